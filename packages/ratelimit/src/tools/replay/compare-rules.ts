import {
  createEngine,
  type Descriptor,
  type Engine,
  type Entry,
  OVER_LIMIT,
  openMemoryStore,
  type RateLimitResponse,
} from '../../engine.ts'
import { type RuleSet, toLimitText } from '../../rules/index.ts'
import type { RecordedRequest } from './recorded-request.ts'
import { createRequestLineReader } from './request-lines.ts'

/** The result for a descriptor under one set of rules. */
export interface DescriptorDecision {
  /** `OVER_LIMIT` if the request is refused because of this descriptor. */
  readonly code: 'OK' | 'OVER_LIMIT'
  /** Human-readable, such as `5 per minute`; undefined if no limit applies. */
  readonly limit: string | undefined
  /** The path of the rule; undefined if no rule matches. */
  readonly rule: string | undefined
}

/** Requests whose descriptor is decided differently by the two sets of rules, or by another limit. */
export interface DecisionChange {
  /** The domain of the requests. */
  readonly domain: string
  /** The entries of the descriptor. */
  readonly entries: readonly Entry[]
  /** The decision with the first set of rules. */
  readonly before: DescriptorDecision
  /** The decision with the second set of rules. */
  readonly after: DescriptorDecision
  /** How many requests change in this way. */
  readonly requests: number
}

/** The result of {@link compareRules}. */
export interface RuleComparison {
  /** How many requests were replayed. */
  readonly requests: number
  /** The time of the first request, in milliseconds since the epoch; undefined if there are no requests. */
  readonly firstMs: number | undefined
  /** The time of the last request. */
  readonly lastMs: number | undefined
  /** Requests that the first set of rules refuses. */
  readonly refusedBefore: number
  /** Requests that the second set of rules refuses. */
  readonly refusedAfter: number
  /** Requests that only one set of rules allows. */
  readonly changed: number
  /** Decisions that differ come first, then those with another limit; most requests first. */
  readonly changes: readonly DecisionChange[]
  /** How many further changes are not in the list. */
  readonly otherChanges: number
  /** Requests without a decision under one of the sets of rules. */
  readonly undecided: number
}

/** The options of {@link compareRules}. */
export interface CompareRulesOptions {
  /** The number of changes to list. Default: 50. */
  readonly mostChanges?: number
}

/** Less than about two milliseconds of work. Other work of the process runs after so many descriptors. */
const sliceLength = 200

/** The maximum number of groups in memory, because values such as user ids can make any number of them. */
const mostGroups = 10_000

type Decision = Pick<RateLimitResponse, 'overallCode' | 'statuses'>

/**
 * Replays recorded requests, ordered by time, with two sets of rules. Both start with empty counters, because the
 * counters at the first request are unknown. Time is simulated.
 */
export async function compareRules(
  before: RuleSet,
  after: RuleSet,
  requests: Iterable<RecordedRequest>,
  { mostChanges = 50 }: CompareRulesOptions = {},
): Promise<RuleComparison> {
  let nowMs = 0
  const now = () => nowMs
  await using oldStore = openMemoryStore({ now })
  await using newStore = openMemoryStore({ now })
  const oldEngine = createEngine({ rules: before, store: oldStore, now })
  const newEngine = createEngine({ rules: after, store: newStore, now })
  const changes = new Changes(oldEngine, newEngine)
  const sums = { requests: 0, refusedBefore: 0, refusedAfter: 0, changed: 0, undecided: 0 }
  let firstMs: number | undefined
  let inSlice = 0
  for (const request of requests) {
    if (inSlice >= sliceLength) {
      inSlice = 0
      await new Promise((resolve) => setImmediate(resolve))
    }
    inSlice += request.descriptors.length
    nowMs = Math.max(nowMs, request.timeMs)
    firstMs ??= nowMs
    sums.requests += 1
    const old = decide(oldEngine, request)
    const next = decide(newEngine, request)
    if (old === undefined || next === undefined) {
      sums.undecided += 1
      continue
    }
    if (old.overallCode === OVER_LIMIT) sums.refusedBefore += 1
    if (next.overallCode === OVER_LIMIT) sums.refusedAfter += 1
    if (old.overallCode !== next.overallCode) sums.changed += 1
    for (const [index, descriptor] of request.descriptors.entries()) {
      changes.add(request.domain, descriptor, [old.statuses[index], next.statuses[index]])
    }
  }
  const sorted = changes.toSorted()
  return {
    ...sums,
    firstMs,
    lastMs: firstMs === undefined ? undefined : nowMs,
    changes: sorted.slice(0, mostChanges),
    otherChanges: Math.max(0, sorted.length - mostChanges) + changes.dropped,
  }
}

/** The store in memory answers synchronously. Very long requests are decided in slices, and are not replayed. */
function decide(engine: Engine, request: RecordedRequest): Decision | undefined {
  let decision: Decision | undefined
  engine.decide(request, Number.POSITIVE_INFINITY, (_error, response) => {
    decision = response
  })
  return decision
}

type Status = Decision['statuses'][number]

class Changes {
  readonly #before: Engine
  readonly #after: Engine
  readonly #groups = new Map<
    string,
    { -readonly [Name in keyof DecisionChange]: DecisionChange[Name] }
  >()
  /** Changes that were not kept because there were too many different ones. */
  dropped = 0

  constructor(before: Engine, after: Engine) {
    this.#before = before
    this.#after = after
  }

  add(
    domain: string,
    descriptor: Descriptor,
    [oldStatus, newStatus]: readonly [Status | undefined, Status | undefined],
  ): void {
    const before = toDecision(this.#before, domain, descriptor, oldStatus)
    const after = toDecision(this.#after, domain, descriptor, newStatus)
    if (before.code === after.code && before.limit === after.limit) return
    const { entries } = descriptor
    const key = JSON.stringify([domain, entries, before, after])
    const known = this.#groups.get(key)
    if (known !== undefined) known.requests += 1
    else if (this.#groups.size >= mostGroups) this.dropped += 1
    else this.#groups.set(key, { domain, entries, before, after, requests: 1 })
  }

  toSorted(): DecisionChange[] {
    const rank = ({ before, after }: DecisionChange) => (before.code === after.code ? 1 : 0)
    return [...this.#groups.values()].sort((a, b) => rank(a) - rank(b) || b.requests - a.requests)
  }
}

function toDecision(
  { rules }: Engine,
  domain: string,
  descriptor: Descriptor,
  status: Status | undefined,
): DescriptorDecision {
  const match = rules?.match(domain, descriptor)
  return {
    code: status?.code === OVER_LIMIT ? 'OVER_LIMIT' : 'OK',
    limit: match && toLimitText(match.limit),
    rule: match?.limit.path,
  }
}

const readLine = createRequestLineReader({
  timeField: 'time',
  domainField: 'domain',
  descriptorsField: 'descriptors',
  hitsField: 'hitsAddend',
  domain: undefined,
})

/** Reads a line of the debug page `/decisions`. @returns undefined if it is not a request. */
export function parseRecordedRequest(line: string): RecordedRequest | undefined {
  const request = readLine(line)
  return typeof request === 'string' ? undefined : request
}
