import { readTallies, resetTallies } from '../decide/counter-access.ts'
import type { DecisionParts, Rules } from '../decide/decision.ts'
import { toTallies } from '../decide/match.ts'
import type { Tally } from '../decide/tally.ts'
import { toResetSeconds } from '../decide/windows.ts'
import type { Descriptor } from '../protocol/message.ts'
import { type Match, toLimitText } from '../rules/model/rule.ts'
import type { TopKeys as TopKeysSketch } from '../stats/top/top-keys.ts'
import type { TopNote } from '../stats/top/top-list.ts'
import {
  type CounterState,
  type CounterTarget,
  type KeyAccess,
  KeyError,
  type LimitedKey,
} from '../transports/debug/key-access.ts'

interface KeyAccessParts {
  readonly decision: DecisionParts
  /** Undefined if the list is disabled. */
  readonly topKeys: TopKeysSketch | undefined
  /** The kind of the store. */
  readonly storeKind: string
}

/** How long a page waits for the store. */
const patienceMs = 5_000

/** Access to the keys and counters of this process. */
export function createKeyAccess(parts: KeyAccessParts): KeyAccess {
  const { decision, topKeys } = parts
  return {
    async top(order) {
      if (topKeys === undefined) {
        throw new KeyError(404, 'The list of keys is disabled: TOP_KEYS_SIZE is 0.')
      }
      const list = topKeys.list(order, decision.now())
      const rules = decision.rules()
      return { ...list, keys: list.keys.map((key) => ({ ...key, ...describe(rules, key) })) }
    },
    inspect: async (target) => await read(parts, findCounter(decision, target)),
    async reset(target) {
      const counter = findCounter(decision, target)
      await new Promise<void>((resolve, reject) => {
        resetTallies(decision, [counter.tally], performance.now() + patienceMs, (error) =>
          error === undefined ? resolve() : reject(toStoreError(error)),
        )
      })
      return await read(parts, counter)
    },
  }
}

/** The rule that applies to a key now. A key of a rule with `share_threshold` has its pattern as the value. */
function describe(
  rules: Rules | undefined,
  { domain, entries, limit, isCut }: TopNote,
): Pick<LimitedKey, 'entries' | 'rule' | 'limitText'> {
  const match = isCut ? undefined : rules?.match(domain, toDescriptor(entries, limit))
  if (match === undefined) return { entries, rule: undefined, limitText: undefined }
  const { sharedValues } = match
  const shown = entries.map(({ key, value }, at) => ({ key, value: sharedValues?.[at] ?? value }))
  return { entries: shown, rule: match.limit.path, limitText: toLimitText(match.limit) }
}

function toDescriptor(
  entries: Descriptor['entries'],
  limit: Descriptor['limit'] = undefined,
): Descriptor {
  return { entries, limit, hitsAddend: undefined, isNegativeHits: false }
}

interface FoundCounter {
  readonly target: CounterTarget
  readonly match: Match
  readonly tally: Tally
}

/** @throws {KeyError} if no limit applies */
function findCounter(decision: DecisionParts, target: CounterTarget): FoundCounter {
  const { domain, entries } = target
  const rules = decision.rules()
  if (rules === undefined) throw new KeyError(409, 'No rules are loaded.')
  if (!rules.hasDomain(domain)) {
    throw new KeyError(404, `There are no rules for the domain ${JSON.stringify(domain)}.`)
  }
  const descriptor = toDescriptor(entries)
  const match = rules.match(domain, descriptor)
  const request = { domain, descriptors: [descriptor], hitsAddend: 0 }
  const [tally] = toTallies(decision, rules, request)
  if (match === undefined || tally === undefined) {
    throw new KeyError(404, 'No rule limits this descriptor, so it has no counter.')
  }
  if (tally.isUnlimited) {
    throw new KeyError(404, `The rule ${match.limit.path} is unlimited, so it has no counter.`)
  }
  return { target, match, tally }
}

async function read(
  { decision, storeKind }: KeyAccessParts,
  { target, match, tally }: FoundCounter,
): Promise<CounterState> {
  const { promise, resolve, reject } = Promise.withResolvers<CounterState>()
  readTallies(decision, [tally], performance.now() + patienceMs, (error, result) => {
    const [counted] = result?.tallies ?? []
    if (result === undefined || counted === undefined) {
      reject(toStoreError(error))
      return
    }
    const { limit } = match
    const { requestsPerUnit, after, charge, window, unitSeconds } = counted
    const hits = after - charge
    const isOver = after > requestsPerUnit
    resolve({
      ...target,
      key: tally.key,
      store: storeKind,
      rule: limit.path,
      limitText: toLimitText(limit),
      algorithm: limit.algorithm,
      shadowMode: limit.shadowMode || decision.settings.isShadowMode,
      quotaMode: counted.isQuota,
      limit: requestsPerUnit,
      windowSeconds: unitSeconds,
      windowStart: window,
      hits,
      remaining: Math.max(0, requestsPerUnit - hits),
      isOver,
      resetSeconds: toResetSeconds(counted, isOver, result.nowSeconds),
    })
  })
  return await promise
}

function toStoreError(error: Error | undefined): KeyError {
  return new KeyError(503, `The store failed: ${error?.message ?? 'no count was returned'}`)
}
