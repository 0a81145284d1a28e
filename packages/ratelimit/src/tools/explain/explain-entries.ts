import type { Entry } from '../../protocol/message.ts'
import type { RuleSet } from '../../rules/model/rule.ts'
import { compileToRead } from './compile-to-read.ts'
import { type Answer, type Circumstances, toAnswers } from './explain-answer.ts'

export interface EntriesRequest {
  readonly domain: string
  /** One list of entries per descriptor: limits of one request can replace each other. */
  readonly descriptors: readonly (readonly Entry[])[]
}

/** Which rule each descriptor meets and why, as `ratelimit explain` tells it. Counts nothing. */
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
