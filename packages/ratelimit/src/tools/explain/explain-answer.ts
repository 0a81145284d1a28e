import {
  type Descriptor,
  type Entry,
  type KeySettings,
  secondsUntilReset,
  toCounterKey,
  windowStart,
} from '../../engine.ts'
import type { Explanation, RuleSet, RuleSnapshot } from '../../rules/index.ts'
import { compileToRead } from './rule-lines.ts'

/** The result of `explain` for one descriptor; `--json` prints it unchanged. */
export interface Answer extends Explanation {
  /** The entries of the descriptor. */
  readonly entries: Descriptor['entries']
  /** Undefined if nothing is counted. */
  readonly counter: CounterPlace | undefined
  /** The path of the rule that replaces this one, because another descriptor of the request matches it. */
  readonly replacedBy: string | undefined
}

/** The counter of a descriptor. */
export interface CounterPlace {
  /** The key in the store. */
  readonly key: string
  /** Unix seconds. */
  readonly windowStart: number
  /** Unix seconds. */
  readonly windowEnd: number
  /** The time until the window ends. */
  readonly secondsUntilReset: number
}

export interface Circumstances extends KeySettings {
  readonly nowSeconds: number
}

export function toAnswers(
  snapshot: RuleSnapshot,
  request: { readonly domain: string; readonly descriptors: readonly Descriptor[] },
  circumstances: Circumstances,
): Answer[] {
  const { domain, descriptors } = request
  const explained = descriptors.map((descriptor) => ({
    descriptor,
    explanation: snapshot.explain(domain, descriptor),
  }))
  const explanations = explained.map(({ explanation }) => explanation)
  return explained.map(({ descriptor, explanation }) => {
    const replacedBy = findReplacing(explanation, explanations)
    const isCounted = replacedBy === undefined
    return {
      ...explanation,
      entries: descriptor.entries,
      counter: isCounted ? toCounterPlace(explanation, descriptor, circumstances) : undefined,
      replacedBy,
    }
  })
}

function findReplacing({ match }: Explanation, all: readonly Explanation[]): string | undefined {
  if (match === undefined || match.limit.unlimited || match.limit.name === '') return undefined
  const { name } = match.limit
  return all.find((other) => other.match?.limit.replaces.includes(name))?.match?.limit.path
}

function toCounterPlace(
  { domain, match }: Explanation,
  descriptor: Descriptor,
  circumstances: Circumstances,
): CounterPlace | undefined {
  if (match === undefined || match.limit.unlimited) return undefined
  const { nowSeconds } = circumstances
  const { windowSeconds } = match.limit
  const start = windowStart(nowSeconds, windowSeconds)
  const { sharedValues } = match
  const key = toCounterKey(circumstances, domain, descriptor, { windowSeconds, sharedValues })
  return {
    key: `${key}${start}`,
    windowStart: start,
    windowEnd: start + windowSeconds,
    secondsUntilReset: secondsUntilReset(nowSeconds, windowSeconds),
  }
}

export interface EntriesRequest {
  readonly domain: string
  /** One list of entries per descriptor, because limits of one request can replace each other. */
  readonly descriptors: readonly (readonly Entry[])[]
}

/** Explains which rule matches each descriptor and why, like `ratelimit explain`. Counts nothing. */
export function explainEntries(
  rules: RuleSet,
  { domain, descriptors }: EntriesRequest,
  {
    cacheKeyPrefix = '',
    keyFormat = 'exact',
    nowSeconds = Math.floor(Date.now() / 1000),
  }: Partial<Circumstances> = {},
): Answer[] {
  const snapshot = compileToRead(rules)
  const request = { domain, descriptors: descriptors.map(toDescriptor) }
  return toAnswers(snapshot, request, { cacheKeyPrefix, keyFormat, nowSeconds })
}

function toDescriptor(entries: readonly Entry[]) {
  return { entries, limit: undefined, hitsAddend: undefined, isNegativeHits: false }
}
