import { setImmediate } from 'node:timers/promises'

/** About a millisecond of work. */
const sliceSize = 2_000

/** Sorts in place, as `Array.sort` does, but lets the event loop turn in between. */
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

/** Decisions wait no longer than this for statistics. */
const sliceMs = 1

/** Cuts long work into slices, between which the event loop turns. */
export class Pace {
  #sliceEnd = 0

  /** Undefined, not a promise, while the slice lasts: waiting costs something too. */
  step(): Promise<void> | undefined {
    return performance.now() < this.#sliceEnd ? undefined : this.#turn()
  }

  async #turn(): Promise<void> {
    await setImmediate()
    this.#sliceEnd = performance.now() + sliceMs
  }
}
