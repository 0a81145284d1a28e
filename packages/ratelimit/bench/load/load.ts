// The process that sends the load. It is told in three steps, so that the process that asks can look
// at the server's CPU time right before and after: an order (connect), "run", "close".

import type { LoadOrder } from './order.ts'
import { type PreparedLoad, prepareLoad } from './run-order.ts'

let load: PreparedLoad | undefined

async function answer(message: LoadOrder | 'run' | 'close'): Promise<object> {
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
}

process.on('disconnect', () => process.exit())
process.on('message', async (message: LoadOrder | 'run' | 'close') => {
  try {
    process.send?.(await answer(message))
  } catch (error) {
    process.send?.({ failure: error instanceof Error ? error.message : String(error) })
  }
})
