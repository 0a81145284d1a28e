import { setImmediate } from 'node:timers/promises'

/** About a millisecond of work. */
const sliceSize = 2_000

/** Sorts in place and keeps the order of equal items, as `Array.sort` does, but yields to the event loop. */
export async function sortInSlices<Item>(
  items: Item[],
  compare: (a: Item, b: Item) => number,
): Promise<void> {
  for (let from = 0; from < items.length; from += sliceSize) {
    const slice = items.slice(from, from + sliceSize).sort(compare)
    for (let i = 0; i < slice.length; i += 1) items[from + i] = slice[i] as Item
    await setImmediate()
  }
  let source = items
  let target = items.slice()
  for (let width = sliceSize; width < items.length; width *= 2) {
    await mergeRuns(source, target, width, compare)
    ;[source, target] = [target, source]
  }
  if (source === items) return
  for (let i = 0; i < items.length; i += 1) items[i] = source[i] as Item
}

/** Merges neighbouring sorted runs of the given width. */
async function mergeRuns<Item>(
  source: readonly Item[],
  target: Item[],
  width: number,
  compare: (a: Item, b: Item) => number,
): Promise<void> {
  for (let from = 0; from < source.length; from += 2 * width) {
    const middle = Math.min(from + width, source.length)
    const end = Math.min(from + 2 * width, source.length)
    let left = from
    let right = middle
    for (let at = from; at < end; at += 1) {
      const takeLeft =
        right >= end || (left < middle && compare(source[left] as Item, source[right] as Item) <= 0)
      target[at] = source[takeLeft ? left++ : right++] as Item
      if (at % sliceSize === 0) await setImmediate()
    }
  }
}

/** The longest time that requests wait because metrics are collected. */
const sliceMs = 1

/** Splits long work into slices and yields to the event loop between them. */
export class Pace {
  #sliceEnd = 0

  /** Returns undefined instead of a promise during a slice, because awaiting a promise for each item is slow. */
  step(): Promise<void> | undefined {
    return performance.now() < this.#sliceEnd ? undefined : this.#turn()
  }

  async #turn(): Promise<void> {
    await setImmediate()
    this.#sliceEnd = performance.now() + sliceMs
  }
}
