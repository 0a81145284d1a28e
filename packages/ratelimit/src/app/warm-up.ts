import { makeWarmUpCalls } from '@portcullis/grpc-unary/warm-up'
import type { DecisionsConfig } from '../config/decisions.ts'
import type { CounterStore, Increment } from '../counters/counter-store.ts'
import { openMemoryStore } from '../counters/memory/memory-store.ts'
import { encodeRequest } from '../protocol/encode.ts'
import { compileRules } from '../rules/match/snapshot.ts'
import type { RuleRecord } from '../rules/model/rule.ts'
import { Statistics } from '../stats/registry.ts'
import { createRateLimitMethods, rateLimitService } from '../transports/grpc.ts'
import { boundDecider, createDecisionParts, openDecide } from './decisions.ts'

/** Enough calls to run every line of the request path, and for V8 to compile most of it. */
const connections = 2
const callsPerConnection = 100

/** The time limit, so that a store that hangs does not keep the service from starting. */
const mostMs = 2_000

const domain = 'portcullis-warm-up'

interface WarmUpParts {
  readonly decisions: DecisionsConfig
  /** The store is only read. When it is undefined, the warm-up uses its own counters in memory. */
  readonly store: CounterStore | undefined
  readonly now: () => number
}

let isWarm = false

/**
 * Decides synthetic requests before the first real one, through sockets, gRPC, rules and the store.
 * Otherwise the first call of a new process would exceed the timeouts of proxies. The rules, the
 * statistics and the counters are separate, and the real store is only read, so the warm-up leaves no
 * trace. It runs once per process.
 * @returns the number of calls that were answered; undefined if the process was already warm
 */
export async function warmUp(parts: WarmUpParts): Promise<number | undefined> {
  if (isWarm) return undefined
  isWarm = true
  const statistics = new Statistics({ maxRequestKeys: 100 })
  await using memory = openMemoryStore({ maxBytes: 1 << 20 })
  const rules = compileRules({ domains: [domain], rules: toRules() }, statistics.rules)
  const decisionParts = createDecisionParts(parts.decisions, {
    rules: () => rules,
    store: parts.store === undefined ? memory : readOnly(parts.store),
    statistics,
    now: parts.now,
  })
  const decider = await openDecide(decisionParts)
  const bounded = boundDecider(decider, parts.decisions, statistics.counter('service_error'))
  const methods = createRateLimitMethods(bounded.decideEncoded, parts.decisions, {
    totalRequests: statistics.counter('total_requests'),
    responseTime: statistics.timer('response_time'),
  })
  const path = `/${rateLimitService}/ShouldRateLimit`
  const enough = AbortSignal.timeout(mostMs)
  try {
    const settings = { methods, path, messages: toMessages(), connections, callsPerConnection }
    return await makeWarmUpCalls(settings, enough)
  } catch {
    // Without a loopback interface only the warm-up fails.
    return 0
  }
}

/** Reads from the real store over its connection, and never writes to it. */
function readOnly(store: CounterStore): CounterStore {
  const read: CounterStore['add'] = (increments, deadlineMs, counted) => {
    store.read(increments, deadlineMs, (error) => {
      for (const increment of increments) addHits(increment)
      counted(error)
    })
  }
  return { add: read, addSparing: read, read, async [Symbol.asyncDispose]() {} }
}

function addHits(increment: Increment): void {
  increment.after += increment.hits
}

const place = { file: 'warm-up', line: 1, column: 1 }

function toRules(): RuleRecord[] {
  const rule = (key: string, value: string, parent: number, requestsPerUnit: number) => ({
    parent,
    domain,
    key,
    value,
    limit: {
      requestsPerUnit,
      unit: 'MINUTE' as const,
      unitMultiplier: 1,
      algorithm: 'fixed_window' as const,
      unlimited: false,
      name: '',
      replaces: [],
    },
    shadowMode: false,
    quotaMode: false,
    detailedMetric: false,
    valueToMetric: false,
    shareThreshold: false,
    metadata: undefined,
    place,
  })
  return [
    rule('path', '/a', -1, 1_000_000),
    rule('user', '', 0, 1_000_000),
    rule('address', '', -1, 1),
    rule('prefix', 'a*', -1, 1_000_000),
  ]
}

/** Requests that are within their limits, over them, without a rule, and with several descriptors. */
function toMessages(): Uint8Array[] {
  const users = Array.from({ length: 20 }, (_, n) => [
    [
      ['path', '/a'],
      ['user', `user-${n}`],
    ],
  ])
  const others = [
    [[['address', '192.0.2.1']]],
    [[['prefix', 'abc']], [['address', '192.0.2.2']], [['path', '/a']]],
    [[['unknown', 'x']]],
  ]
  return [...users, ...others].map(toMessage)
}

function toMessage(descriptors: readonly (readonly (readonly string[])[])[]): Uint8Array {
  const { buffer, length } = encodeRequest({
    domain,
    descriptors: descriptors.map((entries) => ({
      entries: entries.map(([key = '', value = '']) => ({ key, value })),
      limit: undefined,
      hitsAddend: undefined,
      isNegativeHits: false,
    })),
    hitsAddend: 0,
  })
  return Buffer.from(buffer.subarray(0, length))
}
