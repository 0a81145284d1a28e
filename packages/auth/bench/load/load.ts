// The process that sends the load. It is told in three steps, so that the process that asks can look
// at the servers' CPU time right before and after: an order (connect), "run", "close".

import { answerParent } from '../child-side.ts'
import type { LoadOrder } from './order.ts'
import { type PreparedLoad, prepareLoad } from './run-order.ts'

let load: PreparedLoad | undefined

answerParent(async (message: LoadOrder | 'run' | 'close') => {
  if (message === 'close') {
    load?.close()
    return {}
  }
  if (message === 'run') {
    if (!load) throw new Error('There is no order to run')
    return load.run()
  }
  load = await prepareLoad(message)
  return {}
})
