// A process that only checks passwords, to measure what the machine can do without a server.

import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/bcrypt'
import { answerParent } from '@portcullis/bench-kit/answer-parent'
import { password } from './requests.ts'

export interface BcryptOutcome {
  readonly checks: number
  readonly seconds: number
  readonly cpuSeconds: number
}

const cost = 10
const made = hash(password, { cost })

answerParent(async (wantedSeconds: number): Promise<BcryptOutcome> => {
  const known = await made
  const usageBefore = process.cpuUsage()
  const startMs = performance.now()
  const endMs = startMs + wantedSeconds * 1000
  let checks = 0
  const work = async () => {
    while (performance.now() < endMs) {
      if (!(await verify(password, known))) throw new Error('bcrypt did not verify its own hash')
      checks++
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  const seconds = (performance.now() - startMs) / 1000
  const { user, system } = process.cpuUsage(usageBefore)
  return { checks, seconds, cpuSeconds: (user + system) / 1e6 }
})
