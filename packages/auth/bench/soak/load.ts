// The process that sends the load: it receives an order and then runs one stretch after the other.

import { answerParent } from '@portcullis/bench-kit/answer-parent'
import { type MixedLoad, openMixedLoad, type SoakOrder, type Stretch } from './mixed-load.ts'

let load: MixedLoad | undefined

answerParent(async (message: SoakOrder | Stretch) => {
  if ('target' in message) {
    load = await openMixedLoad(message)
    return {}
  }
  if (!load) throw new Error('No order was received yet')
  return load.run(message)
})
