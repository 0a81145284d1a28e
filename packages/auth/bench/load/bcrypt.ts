// A process that only checks passwords, to measure what the machine can do without a server.

import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/bcrypt'
import { answerParent } from '@portcullis/bench-kit/answer-parent'
import { password } from './requests.ts'

export interface BcryptOutcome {
  readonly checks: number
  readonly seconds: number
}

const cost = 10
const made = hash(password, { cost })

answerParent(async (seconds: number): Promise<BcryptOutcome> => {
  const known = await made
  const startMs = performance.now()
  const endMs = startMs + seconds * 1000
  let checks = 0
  const work = async () => {
    while (performance.now() < endMs) {
      if (!(await verify(password, known))) throw new Error('bcrypt did not verify its own hash')
      checks++
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  return { checks, seconds: (performance.now() - startMs) / 1000 }
})
