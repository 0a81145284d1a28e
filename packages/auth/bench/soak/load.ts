// The process that sends the load: it receives a job and then runs one phase after the other.

import { answerParent } from '@portcullis/bench-kit/answer-parent'
import { type LoadPhase, type MixedLoad, openMixedLoad, type SoakJob } from './mixed-load.ts'

let load: MixedLoad | undefined

answerParent(async (message: SoakJob | LoadPhase) => {
  if ('target' in message) {
    load = await openMixedLoad(message)
    return {}
  }
  if (!load) throw new Error('No job was received yet')
  return load.run(message)
})
