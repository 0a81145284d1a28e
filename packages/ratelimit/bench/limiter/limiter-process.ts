// Measures one limiter in a separate process, so that no other one affects its compiled code.

import { answerParent } from '@portcullis/bench-kit/answer-parent'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { createRateLimiter } from '../../src/index.ts'

export const contenders = ['limitSync', 'limit', 'rate-limiter-flexible'] as const
export type Contender = (typeof contenders)[number]

export interface LimiterJob {
  readonly contender: Contender
  /** The number of different values in the calls. */
  readonly keys: number
  readonly calls: number
}

export interface LimiterOutcome {
  readonly nanosecondsPerCall: number
  readonly bytesPerKey: number
}

/** Counts one hit for a key. Returns a promise if the limiter does. */
type Count = (key: string) => unknown

const most = 1_000_000_000

const create: Readonly<Record<Contender, () => Count>> = {
  limitSync() {
    const limiter = createRateLimiter({ limits: { ip: `${most}/hour` } })
    return (ip) => limiter.limitSync({ ip })
  },
  limit() {
    const limiter = createRateLimiter({ limits: { ip: `${most}/hour` } })
    return (ip) => limiter.limit({ ip })
  },
  'rate-limiter-flexible'() {
    const limiter = new RateLimiterMemory({ points: most, duration: 3600 })
    return (ip) => limiter.consume(ip)
  },
}

const isPromised: Readonly<Record<Contender, boolean>> = {
  limitSync: false,
  limit: true,
  'rate-limiter-flexible': true,
}

let kept: { readonly job: string; readonly count: Count; readonly bytes: number } | undefined

answerParent(async ({ contender, keys, calls }: LimiterJob): Promise<LimiterOutcome> => {
  const names = Array.from({ length: keys }, (_, number) => `10.0.${number >> 8}.${number & 255}`)
  const job = `${contender} ${keys}`
  if (kept?.job !== job) {
    const before = usedBytes()
    const count = create[contender]()
    for (const name of names) await count(name)
    kept = { job, count, bytes: usedBytes() - before }
    await countAll(count, names, calls, isPromised[contender])
  }
  const start = process.cpuUsage()
  await countAll(kept.count, names, calls, isPromised[contender])
  const { user, system } = process.cpuUsage(start)
  return {
    nanosecondsPerCall: ((user + system) * 1000) / calls,
    bytesPerKey: kept.bytes / keys,
  }
})

async function countAll(
  count: Count,
  names: readonly string[],
  calls: number,
  waits: boolean,
): Promise<void> {
  for (let call = 0; call < calls; call += 1) {
    const outcome = count(names[call % names.length] ?? '')
    if (waits) await outcome
  }
}

/** The memory usage after a full garbage collection, which needs --expose-gc. */
function usedBytes(): number {
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
