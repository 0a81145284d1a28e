// The process that sends the load: told an order first, then one stretch after the other.

import { answerParent } from '@portcullis/bench-kit/answer-parent'
import { type MixedLoad, openMixedLoad, type SoakOrder, type Stretch } from './mixed-load.ts'

let load: MixedLoad | undefined

answerParent(async (message: SoakOrder | Stretch) => {
  if ('target' in message) {
    load = await openMixedLoad(message)
    return {}
  }
  if (!load) throw new Error('There is no order yet')
  return load.run(message)
})
