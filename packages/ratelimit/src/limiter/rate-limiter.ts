import { StoreError } from '../counters/counter-store.ts'
import { createDecisionStatistics, type DecisionParts, ServiceError } from '../decide/decision.ts'
import type { RuleSnapshot } from '../rules/match/snapshot.ts'
import { Statistics } from '../stats/registry.ts'
import { checkCharge } from './limit-request.ts'
import { defaultHeaderNames, type LimitResult } from './limit-result.ts'
import type { KeyedRateLimiter, LimitOptions, RateLimiter } from './limiter-interface.ts'
import { createLimiterLog } from './limiter-log.ts'
import {
  block,
  count,
  type Operation,
  type OperationParts,
  peek,
  penalize,
  refund,
  reset,
} from './operations.ts'
import {
  checkOptions,
  defaultDomain,
  type KeyedLimiterOptions,
  type RateLimiterOptions,
  type SharedOptions,
  toDecisionSettings,
} from './options.ts'
import type { LimitKeys, Limits } from './rules/limits.ts'
import type { Charging, MatchedRequest } from './rules/matched-request.ts'
import { createKeyedRules, createWrittenRules, type RuleAccess } from './rules/rule-access.ts'
import { RulesError } from './rules/rules-input.ts'
import type { MemoryParts } from './rules/single-limits.ts'
import { UnmatchedReports } from './rules/unmatched.ts'
import { Blocks } from './store/blocks.ts'
import { openLimiterStore } from './store/open-store.ts'
import { ProcessHold, Readiness, withTimeout } from './waiting.ts'

const oneHit: Charging = { hits: 1, isRefund: false }

/** The maximum number of statistics that are named after request values. */
const maxRequestKeys = 10_000

/**
 * Creates a limiter. Limits are objects, whose keys TypeScript checks, or rules of the service, as text or as a
 * folder of files.
 *
 * @example
 * ```ts
 * import { createRateLimiter } from '@portcullis/ratelimit'
 *
 * const limiter = createRateLimiter({ limits: { ip: '100/minute', apiKey: '1000/hour' } })
 * const { isAllowed } = await limiter.limit({ ip: '192.0.2.1', apiKey: undefined })
 * ```
 *
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises'
 * import { createRateLimiter } from '@portcullis/ratelimit'
 *
 * const limiter = createRateLimiter({ rules: await readFile('limits.yaml', 'utf8') })
 * const { isAllowed } = await limiter.limit({ descriptors: [{ user: 'alice' }] })
 * ```
 *
 * @throws TypeError that lists all invalid options
 * @throws RulesError that lists all errors in the text of the rules
 */
export function createRateLimiter<const Given extends Limits>(
  options: KeyedLimiterOptions<Given>,
): KeyedRateLimiter<LimitKeys<Given>>
export function createRateLimiter(options: RateLimiterOptions): RateLimiter
export function createRateLimiter(
  options: RateLimiterOptions | KeyedLimiterOptions,
): RateLimiter<never, never> {
  const parsed = checkOptions(options)
  if (parsed !== undefined) {
    const { domain = defaultDomain } = options
    return createLimiter(options, createKeyedRules(parsed, domain))
  }
  return createLimiter(options, createWrittenRules(options.rules ?? '', options.domain))
}

function createLimiter<Input, Rules>(
  options: SharedOptions,
  ruleAccess: RuleAccess<Input, Rules>,
): RateLimiter<Input, Rules> {
  const { now = Date.now, timeoutMs: usualTimeoutMs = 1_000, readyTimeoutMs = 10_000 } = options
  const log = createLimiterLog(options.logger, options.log)
  const statistics = new Statistics({ maxRequestKeys })
  const unmatched = new UnmatchedReports(options.onUnmatched ?? 'warn', (line) => log.warning(line))
  const hold = new ProcessHold()
  const readiness = new Readiness()
  let snapshot: RuleSnapshot | undefined
  /** Why there is no snapshot. */
  let missingReason = 'the rules are not loaded yet'
  const source = ruleAccess.open({
    statistics,
    log,
    onSnapshot(rules) {
      snapshot = rules
    },
    onFailure(reason) {
      missingReason = reason
    },
  })
  const {
    store,
    counters,
    guard,
    localCache,
    firstAttempt,
    answers,
    close: closeStore,
  } = openLimiterStore(options, log, now)
  const results = { headerNames: options.headerNames ?? defaultHeaderNames }
  const parts: DecisionParts = {
    settings: toDecisionSettings(options),
    rules: () => snapshot,
    store,
    localCache,
    statistics: createDecisionStatistics(statistics),
    now,
  }
  const blocks = new Blocks({
    store,
    isShared: guard !== undefined && options.sharedBlocks === true,
  })
  const operations: OperationParts = { decision: parts, results, blocks, guard }
  /** Undefined if decisions may have to wait: for the store, or for rules in a folder. */
  const memory: MemoryParts | undefined =
    counters === undefined || source !== undefined ? undefined : { ...operations, counters }
  if (memory !== undefined) readiness.markReady()
  else {
    const markReady = () => readiness.markReady()
    Promise.all([firstAttempt, source?.firstAttempt]).then(markReady, markReady)
  }
  let ready: Promise<void> | undefined

  async function waitUntilReady(): Promise<void> {
    await source?.firstAttempt
    if (snapshot === undefined) throw new RulesError(missingReason)
    const answer = options.fallback === 'memory' ? firstAttempt : answers
    await withTimeout(answer, readyTimeoutMs)
  }

  function match(input: Input, charging: Charging): MatchedRequest {
    const rules = snapshot
    try {
      if (rules === undefined) throw new ServiceError(missingReason)
      const matched = ruleAccess.match(parts, rules, input, charging)
      if (matched.unmatched.length > 0) unmatched.report(matched, rules)
      return matched
    } catch (error) {
      if (error instanceof ServiceError) parts.statistics.serviceErrors.value += 1
      throw error
    }
  }

  async function runLater<Result>(
    operation: Operation<Result>,
    input: Input,
    charging: Charging,
    timeoutMs: number,
  ): Promise<Result> {
    const deadlineMs = performance.now() + timeoutMs
    if (!readiness.isReady) await readiness.wait(timeoutMs)
    return await new Promise((resolve, reject) => {
      operation(operations, match(input, charging), deadlineMs, (error, result) => {
        if (result === undefined) reject(error)
        else resolve(result)
      })
    })
  }

  // All calls share one callback, because a closure per call costs more than counting. Each call is answered
  // before the next one begins.
  let answer: unknown
  let failure: Error | undefined
  const keepAnswer = (error: Error | undefined, result: unknown) => {
    answer = result
    failure = error
  }

  function runNow<Result>(operation: Operation<Result>, input: Input, charging: Charging): Result {
    const matched = match(input, charging)
    answer = undefined
    failure = undefined
    operation(operations, matched, Number.POSITIVE_INFINITY, keepAnswer)
    if (answer === undefined)
      throw failure ?? new StoreError('the store did not answer synchronously')
    return answer as Result
  }

  function run<Result>(
    operation: Operation<Result>,
    input: Input,
    { timeoutMs = usualTimeoutMs, hits = 1 }: LimitOptions,
    isRefund: boolean,
  ): Promise<Result> {
    try {
      checkCharge(hits)
      const charging = hits === 1 && !isRefund ? oneHit : { hits, isRefund }
      if (memory !== undefined) return Promise.resolve(runNow(operation, input, charging))
      return hold.during(runLater(operation, input, charging, timeoutMs))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  function countNow(memory: MemoryParts, input: Input, hits = 1): LimitResult {
    checkCharge(hits)
    if (hits !== 1) return runNow(count, input, { hits, isRefund: false })
    return ruleAccess.countSingle(memory, input) ?? runNow(count, input, oneHit)
  }

  async function close(): Promise<void> {
    hold.close()
    await source?.[Symbol.asyncDispose]()
    await closeStore()
  }

  return {
    get ready() {
      if (ready === undefined) {
        ready = hold.during(waitUntilReady())
        // Callers that do not await it get the error with their first decision.
        ready.catch(() => undefined)
      }
      return ready
    },
    limit:
      memory === undefined
        ? (request, given = {}) => run(count, request, given, false)
        : async (request, given) => countNow(memory, request, given?.hits),
    limitSync(request, given) {
      if (memory !== undefined) return countNow(memory, request, given?.hits)
      throw new TypeError(
        'limitSync needs counters in memory and rules that are not in a folder: use limit instead',
      )
    },
    peek: (request, given = {}) => run(peek, request, given, false),
    refund: (request, given = {}) => run(refund, request, given, true),
    penalty: (request, given = {}) => run(penalize, request, given, false),
    reward: (request, given = {}) => run(refund, request, given, true),
    async reset(request, given = {}) {
      await run(reset, request, given, false)
    },
    async block(request, seconds, given = {}) {
      if (!(Number.isFinite(seconds) && seconds > 0)) {
        throw new TypeError(`seconds of a block must be a number above 0, not ${seconds}`)
      }
      if (guard !== undefined && options.sharedBlocks !== true) {
        throw new TypeError(
          'block needs the option sharedBlocks: true with this store, so that all processes look up blocks',
        )
      }
      await run(block(now() + seconds * 1_000), request, given, false)
    },
    load(rules) {
      if (source !== undefined) {
        throw new TypeError(
          'load is not available, because the rules come from the folder of the limiter: change its files',
        )
      }
      snapshot = ruleAccess.parse(rules, statistics)
    },
    async statistics() {
      const lines: (readonly [string, number])[] = []
      for await (const line of statistics.lines()) lines.push(line)
      return lines
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
