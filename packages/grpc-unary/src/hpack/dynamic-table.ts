import type { Field } from './field.ts'

/** Every entry has an overhead of 32 bytes, which bounds the number of entries in a full table. */
const SMALLEST_ENTRY = 32

/** The dynamic table of RFC 7541 2.3.2: newest first, oldest evicted. */
export class DynamicTable {
  /** Changes whenever an index may refer to another entry than before. */
  generation = 0
  readonly #limit: number
  readonly #slots: (Field | undefined)[]
  readonly #mask: number
  #maxSize: number
  #size = 0
  #length = 0
  #newest = 0

  constructor(limit: number) {
    this.#limit = limit
    this.#maxSize = limit
    const slots = 2 ** Math.ceil(Math.log2(Math.max(1, limit / SMALLEST_ENTRY)))
    this.#slots = new Array<Field | undefined>(slots).fill(undefined)
    this.#mask = slots - 1
  }

  get length(): number {
    return this.#length
  }

  get size(): number {
    return this.#size
  }

  /** The entry that was added `age` entries before the newest. */
  at(age: number): Field | undefined {
    return age < this.#length ? this.#slots[(this.#newest - age) & this.#mask] : undefined
  }

  /** RFC 7541 4.4: an entry larger than the table empties it, which is not an error. */
  add(field: Field): void {
    this.generation++
    this.#evictDownTo(this.#maxSize - field.size)
    if (field.size > this.#maxSize) return
    this.#newest = (this.#newest + 1) & this.#mask
    this.#slots[this.#newest] = field
    this.#length++
    this.#size += field.size
  }

  /** Returns false if the size is invalid, or more than this end allows. */
  resize(maxSize: number): boolean {
    if (maxSize < 0 || maxSize > this.#limit) return false
    this.generation++
    this.#maxSize = maxSize
    this.#evictDownTo(maxSize)
    return true
  }

  #evictDownTo(size: number): void {
    while (this.#length > 0 && this.#size > size) {
      const oldest = (this.#newest - this.#length + 1) & this.#mask
      this.#size -= this.#slots[oldest]?.size ?? 0
      this.#slots[oldest] = undefined
      this.#length--
    }
  }
}
