// Counts in one store in a separate process, so that no other library affects the measurement.

import { answerParent } from '@portcullis/bench-kit/answer-parent'
import type { CounterStore, Increment } from '../../src/counters/counter-store.ts'
import { type Expiry, openContender, type ServerAddress } from './contenders.ts'

export interface StoreJob {
  readonly contender: string
  readonly address: ServerAddress
  readonly expiry: Expiry
  /** The number of counters that a decision changes. */
  readonly descriptors: number
  readonly decisions: number
}

export interface StoreOutcome {
  readonly cpuSeconds: number
  readonly wallSeconds: number
}

const inFlight = 64
const differentDecisions = 5_000
const unitSeconds = 86_400
const window = Math.floor(Date.now() / 1000 / unitSeconds) * unitSeconds

type Keys = readonly (readonly string[])[]

let opened: { readonly job: string; readonly store: CounterStore; readonly keys: Keys } | undefined

answerParent(async (job: StoreJob): Promise<StoreOutcome> => {
  const { contender, address, expiry, descriptors, decisions } = job
  const name = JSON.stringify([contender, address, expiry, descriptors])
  if (opened?.job !== name) {
    await opened?.store[Symbol.asyncDispose]()
    const store = await openContender(contender, address, expiry)
    opened = { job: name, store, keys: toKeys(descriptors) }
    // Makes every counter known, and lets V8 compile the code.
    await decideAll(opened, differentDecisions)
  }
  const [start, startMs] = [process.cpuUsage(), performance.now()]
  await decideAll(opened, decisions)
  const { user, system } = process.cpuUsage(start)
  return {
    cpuSeconds: (user + system) / 1e6,
    wallSeconds: (performance.now() - startMs) / 1000,
  }
})

/** The keys of each decision, 75 bytes long without the window. */
function toKeys(descriptors: number): Keys {
  return Array.from({ length: differentDecisions }, (_, decision) =>
    Array.from({ length: descriptors }, (_, descriptor) => {
      const tenant = `${decision}`.padStart(10, '0')
      return `bench_tenant_${tenant}_path_${`${descriptor}`.padStart(45, 'x')}_`
    }),
  )
}

function decideAll(
  { store, keys }: { readonly store: CounterStore; readonly keys: Keys },
  decisions: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let [begun, ended] = [0, 0]
    const decide = () => {
      const names = keys[begun++ % keys.length] ?? []
      const increments = names.map(toIncrement)
      store.add(increments, Number.POSITIVE_INFINITY, (error) => {
        if (error) reject(error)
        else if (increments.some(({ after }) => !(after > 0))) reject(new Error('not counted'))
        else if (++ended === decisions) resolve()
        else if (begun < decisions) decide()
      })
    }
    for (let call = 0; call < inFlight; call++) decide()
  })
}

function toIncrement(key: string): Increment {
  const [hits, most, isStrict, overlapMs] = [1, 4_294_967_295, true, 0]
  const [after, previous] = [Number.NaN, Number.NaN]
  return { key, window, unitSeconds, hits, most, isStrict, overlapMs, after, previous }
}
