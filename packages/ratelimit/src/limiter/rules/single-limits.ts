import { StoreError } from '../../counters/counter-store.ts'
import type { EncodedCounters } from '../../counters/memory/memory-store.ts'
import { Tally } from '../../decide/tally.ts'
import { windowStart } from '../../decide/windows.ts'
import { KeyTemplate } from '../../hot/index.ts'
import { type LimitResult, toLimitResult } from '../limit-result.ts'
import type { OperationParts } from '../operations.ts'
import type { KeyedLimits } from './keyed-limits.ts'
import type { KeyValues } from './limits.ts'
import { everythingMatched, type MatchedRequest } from './matched-request.ts'

/** The parts of a limiter whose counters are in memory. */
export interface MemoryParts extends OperationParts {
  readonly counters: EncodedCounters
}

/** A limit, prepared for requests to which no other limit applies. */
interface SingleLimit {
  readonly template: KeyTemplate
  /** Shared by all requests: no result refers to it, and each request is counted before the next one begins. */
  readonly tally: Tally
  readonly matched: MatchedRequest
}

/**
 * Counts requests that have one value and one limit in a fixed window, as most requests have, in one step. Measured
 * with 1,000 values (bench/limiter): 355 instead of 725 ns, because it creates neither the text of the counter key nor
 * the objects of a request with any number of limits.
 */
export class SingleLimits {
  readonly #limits: KeyedLimits
  readonly #byKey = new Map<string, SingleLimit>()

  constructor(limits: KeyedLimits) {
    this.#limits = limits
  }

  /**
   * Counts one hit. Returns undefined, without counting anything, if the request is not of this kind. Hot path.
   * @throws StoreError
   */
  count(parts: MemoryParts, values: KeyValues): LimitResult | undefined {
    const { decision, blocks, results, counters } = parts
    if (!blocks.isEmpty || decision.settings.stopsIncrementWhenOver) return undefined
    const key = findOnlyKey(values)
    const value = key === undefined ? undefined : values[key]
    if (key === undefined || typeof value !== 'string') return undefined
    const limit = this.#byKey.get(key) ?? this.#prepare(parts, key, value)
    if (limit === undefined) return undefined
    const { template, tally, matched } = limit
    const encoded = template.encode(value)
    if (encoded === undefined) return undefined
    const { unitSeconds } = tally
    const nowSeconds = Math.floor(decision.now() / 1000)
    const window = windowStart(nowSeconds, unitSeconds)
    tally.counters.totalHits += 1
    try {
      tally.after = counters.addEncoded(encoded, window, unitSeconds, 1)
    } catch (error) {
      if (error instanceof StoreError) decision.statistics.storeErrors.value += 1
      throw error
    }
    return toLimitResult(decision, results, matched, nowSeconds, false)
  }

  #prepare({ decision }: MemoryParts, key: string, value: string): SingleLimit | undefined {
    const prepared = this.#limits.findOnly(decision, key, value)
    const texts = prepared?.keys?.textsAround
    if (prepared === undefined || texts === undefined || prepared.charge.isSliding) return undefined
    // The key is not needed: counters in memory have no local cache.
    const tally = new Tally({ ...prepared.charge, key: '', charge: 1, isRefund: false })
    const { domain } = this.#limits
    const limit = {
      template: new KeyTemplate(texts.before, texts.after),
      tally,
      matched: { domain, tallies: [tally], keys: [[key]], ...everythingMatched },
    }
    this.#byKey.set(key, limit)
    return limit
  }
}

/** The only key that has a value; undefined if there are several or none. */
function findOnlyKey(values: KeyValues): string | undefined {
  let only: string | undefined
  for (const key in values) {
    if (values[key] === undefined || values[key] === null) continue
    if (only !== undefined) return undefined
    only = key
  }
  return only
}
