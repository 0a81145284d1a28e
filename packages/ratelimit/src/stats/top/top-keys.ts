import type { Descriptor } from '../../protocol/message.ts'
import { cutText } from '../statistics-key.ts'
import { Sampler } from './sampler.ts'
import { SpaceSaving } from './space-saving.ts'
import {
  mergeTopLists,
  type TopKey,
  type TopList,
  type TopNote,
  type TopOrder,
  truncateTopList,
} from './top-list.ts'

/** A list covers the current window and the one before it: from 5 to 10 minutes. */
const windowMs = 300_000

/** Longer keys are truncated, because clients choose their values and could otherwise fill the memory. */
const longestKey = 1_024

/** `/top` shows at most this many keys, so workers send no more of them to the primary. */
const longestList = 1_000

interface Window {
  readonly startMs: number
  readonly byOrder: Readonly<Record<TopOrder, SpaceSaving<TopNote>>>
}

/**
 * The keys with the most hits of the last minutes, in total and over their limit. The memory is bounded: four sketches with a fixed
 * number of keys, two for each window. Requests are sampled (see `Sampler`), so the cost is bounded too.
 *
 * The numbers are exact below 2,000 descriptors per second and process, and while each key has a place. Above that rate
 * they are estimates. If there are more keys than places, `hits` and `limited` are lower bounds, and `most` is an upper
 * bound.
 */
export class TopKeys {
  readonly #places: number
  readonly #sampler = new Sampler()
  #current: Window
  #previous: Window | undefined

  /** @param places - the number of keys in each sketch */
  constructor(places: number, nowMs: number) {
    this.#places = places
    this.#current = this.#open(nowMs)
  }

  /** Hot path. See `Sampler`. */
  next(nowMs: number, descriptors: number): number {
    return this.#sampler.next(nowMs, descriptors)
  }

  /** Adds a descriptor of the sample. The hits are already multiplied by the number of requests that it stands for. */
  record(
    key: string,
    domain: string,
    descriptor: Descriptor,
    hits: number,
    limited: number,
    nowMs: number,
  ): void {
    this.#turn(nowMs)
    const { byOrder } = this.#current
    const kept = key.length > longestKey ? cutText(key, longestKey) : key
    const toNote = () => createNote(domain, descriptor, kept !== key)
    byOrder.calls.add(kept, hits, limited, toNote)
    if (limited > 0) byOrder.limited.add(kept, limited, hits, toNote)
    else byOrder.limited.addSide(kept, hits)
  }

  list(order: TopOrder, nowMs: number): TopList {
    this.#turn(nowMs)
    const windows = this.#previous === undefined ? [this.#current] : [this.#previous, this.#current]
    const sinceMs = windows[0]?.startMs ?? nowMs
    const isEstimate = this.#sampler.hasEstimated(nowMs, nowMs - sinceMs)
    const lists = windows.map(({ startMs, byOrder }) => {
      const sketch = byOrder[order]
      const others = byOrder[order === 'limited' ? 'calls' : 'limited']
      const keys = [...sketch.entries()].map(({ key, count, error, side, note }): TopKey => {
        const atLeast = count - error
        const other = others.find(key)
        // Both are lower bounds. The key may have been in the other sketch for longer than in this one.
        const aside = other === undefined ? side : Math.max(side, other.count - other.error)
        return order === 'limited'
          ? { ...note, key, hits: aside, limited: atLeast, most: count }
          : { ...note, key, hits: atLeast, limited: aside, most: count }
      })
      return { sinceMs: startMs, isEstimate, floor: sketch.floor, keys }
    })
    return truncateTopList(mergeTopLists(lists, order), longestList)
  }

  #open(startMs: number): Window {
    const limited = new SpaceSaving<TopNote>(this.#places)
    return { startMs, byOrder: { limited, calls: new SpaceSaving<TopNote>(this.#places) } }
  }

  #turn(nowMs: number): void {
    const ageMs = nowMs - this.#current.startMs
    // A request that waited for the store may be a little older than the window. The clock may also be set back.
    if (ageMs > -windowMs && ageMs < windowMs) return
    this.#previous = ageMs > 0 && ageMs < 2 * windowMs ? this.#current : undefined
    this.#current = this.#open(nowMs)
  }
}

/** @param isKeyCut - whether the name of the counter was truncated */
function createNote(domain: string, { entries, limit }: Descriptor, isKeyCut: boolean): TopNote {
  // The name has the pattern of a rule with a shared counter, whose values may be much longer.
  const isCut = isKeyCut || isLongerThan(longestKey, domain, entries)
  if (!isCut) return { domain, entries, limit, isCut }
  let room = longestKey
  const take = (text: string) => {
    const taken = text.length > room ? cutText(text, room) : text
    room -= taken.length
    return taken
  }
  const kept = []
  for (const { key, value } of entries) {
    if (room <= 0) break
    kept.push({ key: take(key), value: take(value) })
  }
  return { domain: cutText(domain, longestKey), entries: kept, limit, isCut }
}

function isLongerThan(most: number, domain: string, entries: Descriptor['entries']): boolean {
  let length = domain.length
  for (const { key, value } of entries) length += key.length + value.length
  return length > most
}
