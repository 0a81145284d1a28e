import type { Entry, LimitOverride } from '../../protocol/message.ts'

/** The order of a list: by hits that were over the limit, or by all hits. */
export const topOrders = ['limited', 'calls'] as const
export type TopOrder = (typeof topOrders)[number]

/** The descriptor of a key, from the request that added it to the list. */
export interface TopNote {
  readonly domain: string
  readonly entries: readonly Entry[]
  /** The limit in the request, if it had one. */
  readonly limit: LimitOverride | undefined
  /** Whether the key or its descriptor was truncated, because it is too long. */
  readonly isCut: boolean
}

/** A key of the list. */
export interface TopKey extends TopNote {
  /** The name of the counter up to its window. */
  readonly key: string
  /** Never too high. */
  readonly hits: number
  /** The hits that were over the limit; never too high. */
  readonly limited: number
  /** The upper bound of the number by which the list is ordered: `hits` or `limited`. */
  readonly most: number
}

/** The keys with the most hits in a period. Workers send their lists to the primary. */
export interface TopList {
  /** Milliseconds since the epoch. */
  readonly sinceMs: number
  /** Whether requests were sampled, so that the numbers are estimates. */
  readonly isEstimate: boolean
  /** The highest number that a missing key can have. */
  readonly floor: number
  readonly keys: readonly TopKey[]
}

/**
 * Adds up lists of different periods or processes, and sorts the result. A key that is missing from a list may have had
 * up to `floor` hits there.
 */
export function mergeTopLists(lists: readonly TopList[], order: TopOrder): TopList {
  const floor = lists.reduce((sum, list) => sum + list.floor, 0)
  const merged = new Map<string, TopKey>()
  for (const list of lists) {
    for (const key of list.keys) {
      const known = merged.get(key.key) ?? { ...key, hits: 0, limited: 0, most: floor }
      merged.set(key.key, {
        ...known,
        hits: known.hits + key.hits,
        limited: known.limited + key.limited,
        most: known.most - list.floor + key.most,
      })
    }
  }
  const column = order === 'limited' ? 'limited' : 'hits'
  return {
    sinceMs: Math.min(...lists.map(({ sinceMs }) => sinceMs)),
    isEstimate: lists.some(({ isEstimate }) => isEstimate),
    floor,
    keys: [...merged.values()].sort((a, b) => b[column] - a[column] || b.most - a.most),
  }
}

/** Keeps the first keys of a sorted list. */
export function truncateTopList(list: TopList, count: number): TopList {
  if (list.keys.length <= count) return list
  const dropped = list.keys.slice(count)
  const floor = dropped.reduce((highest, { most }) => Math.max(highest, most), list.floor)
  return { ...list, floor, keys: list.keys.slice(0, count) }
}
