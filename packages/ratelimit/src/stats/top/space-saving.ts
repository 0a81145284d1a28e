/** A key of the sketch with its counts. */
export interface SketchEntry<Note> {
  readonly key: string
  /** The weight of the key; at most `error` too high, and never too low. */
  readonly count: number
  /** The part of `count` that may belong to keys whose place this key took. */
  readonly error: number
  /** A second weight, counted only while the key is in the sketch, so it is never too high. */
  readonly side: number
  readonly note: Note
}

type Mutable<Value> = { -readonly [Name in keyof Value]: Value[Name] }

interface Place<Note> extends Mutable<SketchEntry<Note>> {
  /** The index in the heap. */
  at: number
}

/**
 * The space-saving sketch (Metwally, Agrawal, El Abbadi: "Efficient computation of frequent and top-k elements in data
 * streams", 2005). It finds the most frequent keys of a stream with a fixed number of places: a new key takes the place of
 * the key with the lowest count and inherits that count as its error. Every key whose weight is more than the total
 * weight divided by the number of places is in the sketch.
 *
 * The places are a heap, with the lowest count first, so a change takes O(log places).
 */
export class SpaceSaving<Note> {
  readonly #places: number
  readonly #byKey = new Map<string, Place<Note>>()
  readonly #heap: Place<Note>[] = []

  constructor(places: number) {
    this.#places = places
  }

  /** The highest weight that a key outside the sketch can have. */
  get floor(): number {
    return this.#heap.length < this.#places ? 0 : (this.#heap[0]?.count ?? 0)
  }

  /** @param toNote - called when the key gets a place */
  add(key: string, weight: number, side: number, toNote: () => Note): void {
    const known = this.#byKey.get(key)
    if (known !== undefined) {
      known.count += weight
      known.side += side
      this.#siftDown(known)
      return
    }
    if (this.#heap.length < this.#places) {
      const at = this.#heap.length
      const place = { key, count: weight, error: 0, side, note: toNote(), at }
      this.#heap.push(place)
      this.#byKey.set(key, place)
      this.#siftUp(place)
      return
    }
    const lowest = this.#heap[0]
    if (lowest === undefined) return
    this.#byKey.delete(lowest.key)
    lowest.key = key
    lowest.error = lowest.count
    lowest.count += weight
    lowest.side = side
    lowest.note = toNote()
    this.#byKey.set(key, lowest)
    this.#siftDown(lowest)
  }

  /** Adds to the second weight, if the key is in the sketch. */
  addSide(key: string, side: number): void {
    const known = this.#byKey.get(key)
    if (known !== undefined) known.side += side
  }

  find(key: string): SketchEntry<Note> | undefined {
    return this.#byKey.get(key)
  }

  /** In no particular order. */
  entries(): Iterable<SketchEntry<Note>> {
    return this.#heap
  }

  #siftUp(place: Place<Note>): void {
    let { at } = place
    while (at > 0) {
      const above = (at - 1) >> 1
      const parent = this.#heap[above]
      if (parent === undefined || parent.count <= place.count) break
      this.#put(parent, at)
      at = above
    }
    this.#put(place, at)
  }

  #siftDown(place: Place<Note>): void {
    let { at } = place
    for (;;) {
      const left = this.#heap[2 * at + 1]
      const right = this.#heap[2 * at + 2]
      const child =
        right !== undefined && left !== undefined && right.count < left.count ? right : left
      if (child === undefined || child.count >= place.count) break
      const below = child.at
      this.#put(child, at)
      at = below
    }
    this.#put(place, at)
  }

  #put(place: Place<Note>, at: number): void {
    place.at = at
    this.#heap[at] = place
  }
}
