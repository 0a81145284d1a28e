import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { CounterStore } from '../../src/counters/counter-store.ts'
import { openMemoryStore } from '../../src/counters/memory/memory-store.ts'
import type { Decided, DecisionSettings } from '../../src/decide/decision.ts'
import { createDecider } from '../../src/engine.ts'
import { createLocalCache } from '../../src/hot/local-cache.ts'
import type { Descriptor, RateLimitRequest, RateLimitResponse } from '../../src/protocol/message.ts'
import { compileRules } from '../../src/rules/match/snapshot.ts'
import type { RuleSet } from '../../src/rules/model/rule.ts'
import { parseRuleFiles } from '../../src/rules/yaml/parse.ts'
import { Statistics } from '../../src/stats/registry.ts'

export interface DeciderOptions {
  readonly settings?: Partial<DecisionSettings>
  readonly localCacheBytes?: number
  readonly store?: CounterStore
  readonly maxRequestKeys?: number
}

/** A decider with rules, a store and a clock that the test sets. */
export interface Decider {
  readonly statistics: Statistics
  /** The time in seconds. */
  now: number
  load(rules: string | RuleSet): void
  decide(request: RateLimitRequest): Promise<RateLimitResponse>
  /** Decides an encoded request, as over gRPC. */
  decideEncoded(message: Buffer): Promise<RateLimitResponse>
  /** The statistics of a rule that are not 0. */
  counters(key: string): Record<string, number>
}

/** @param firstRules - YAML, or parsed rules */
export function openDecider(
  t: Pick<TestContext, 'after'>,
  firstRules: string | RuleSet,
  options: DeciderOptions = {},
): Decider {
  const statistics = new Statistics({ maxRequestKeys: options.maxRequestKeys ?? 100 })
  const compile = (given: string | RuleSet) =>
    compileRules(typeof given === 'string' ? parse(given) : given, statistics.rules)
  let rules = compile(firstRules)
  const decider = { now: 1_700_000_000 }
  const now = () => decider.now * 1000
  const store = options.store ?? openMemoryStore({ now })
  t.after(() => store[Symbol.asyncDispose]())
  const { decide, decideEncoded } = createDecider({
    settings: {
      cacheKeyPrefix: '',
      keyFormat: 'exact',
      nearLimitRatio: 0.8,
      isShadowMode: false,
      isQuotaMode: false,
      stopsIncrementWhenOver: false,
      headerNames: undefined,
      addsDynamicMetadata: false,
      ...options.settings,
    },
    rules: () => rules,
    store,
    localCache: options.localCacheBytes
      ? createLocalCache({ sizeInBytes: options.localCacheBytes, now })
      : undefined,
    statistics: {
      storeErrors: statistics.counter('storeErrors'),
      serviceErrors: statistics.counter('serviceErrors'),
      globalShadowMode: statistics.counter('globalShadowMode'),
      unknownDomain: (domain) => statistics.unknownDomain(domain),
    },
    now,
  })
  return Object.assign(decider, {
    statistics,
    load: (given: string | RuleSet) => {
      rules = compile(given)
    },
    decide: (request: RateLimitRequest) =>
      toPromise((decided) => decide(request, Number.POSITIVE_INFINITY, decided)),
    decideEncoded: (message: Buffer) =>
      toPromise((decided) =>
        decideEncoded(message, 0, message.length, Number.POSITIVE_INFINITY, decided),
      ),
    counters: (key: string) =>
      Object.fromEntries(
        Object.entries(statistics.rules.forRequest(key)).filter(([, value]) => value !== 0),
      ),
  })
}

function parse(text: string): RuleSet {
  const { rules, faults } = parseRuleFiles([{ name: 'rules.yaml', text }], { mergeDomains: false })
  assert.deepEqual(faults, [])
  return rules
}

function toPromise(start: (decided: Decided) => void): Promise<RateLimitResponse> {
  return new Promise((resolve, reject) => {
    start((error, response) => {
      if (response === undefined) reject(error)
      else resolve(response)
    })
  })
}

/** `descriptor('a=1', 'b=2')`, with more fields in an object at the end. */
export function descriptor(...parts: (string | Partial<Descriptor>)[]): Descriptor {
  const last = parts.at(-1)
  const fields = typeof last === 'object' ? last : {}
  const texts = parts.filter((part): part is string => typeof part === 'string')
  return {
    entries: texts.map((text) => {
      const at = text.indexOf('=')
      return { key: text.slice(0, at), value: text.slice(at + 1) }
    }),
    limit: undefined,
    hitsAddend: undefined,
    isNegativeHits: false,
    ...fields,
  }
}

export function requestFor(domain: string, ...descriptors: Descriptor[]): RateLimitRequest {
  return { domain, descriptors, hitsAddend: 0 }
}
