import type { Child } from '@portcullis/bench-kit/child'
import type { OnProgress } from '@portcullis/bench-kit/rounds'
import type { HandleJob, HandleOutcome } from './handle.ts'
import { type HandlerName, handlerNames, startHandler } from './handler-process.ts'
import type { Plan } from './measure.ts'
import { type QueryName, queries } from './queries.ts'

/** Requests per CPU-second in each round. */
export type HandlerSamples = ReadonlyMap<
  HandlerName,
  Readonly<Record<QueryName, readonly number[]>>
>

/** Calls the handlers with plain requests, in turns, to measure the library without a server. */
export async function measureHandlers(
  { queries: names, graphql, rounds, seconds }: Plan,
  onProgress: OnProgress,
): Promise<HandlerSamples> {
  const samples = new Map(
    handlerNames.map((name) => [name, { hello: [] as number[], list: [] as number[] }]),
  )
  const children = new Map<HandlerName, Child>()
  try {
    for (const name of handlerNames) children.set(name, startHandler(name, graphql))
    // Round 0 is the warm-up.
    for (let round = 0; round <= rounds; round++) {
      for (const query of names) {
        for (const [name, child] of children) {
          onProgress(round, rounds + 1, `${query}: handler of ${name}`)
          const template = queries[query].document
          const job: HandleJob = { template, documents: 1, requests: 1, seconds }
          const { requests, cpuSeconds } = await child.request<HandleOutcome>(job)
          if (round > 0) samples.get(name)?.[query].push(requests / cpuSeconds)
        }
      }
    }
    return samples
  } finally {
    for (const child of children.values()) child[Symbol.dispose]()
  }
}
