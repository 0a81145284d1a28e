import type { TextLines } from '../../yaml/text-lines.ts'
import type { RuleFault } from '../model/fault.ts'

/** Limits the number of faults, because an invalid file with 100,000 rules could cause 100,000 of them. */
const mostPerList = 100
/** The YAML library quotes invalid text, which may be the rest of the file. */
const mostCharacters = 500

/** Collects the faults (or the warnings) of one kind in one file, in the order they are found. */
export class FaultList {
  readonly #file: string
  readonly #lines: TextLines
  readonly #found = new Map<string, RuleFault>()
  readonly #offsets = new Set<number>()
  #leftOut = 0

  constructor(file: string, lines: TextLines) {
    this.#file = file
    this.#lines = lines
  }

  /** A fault that an alias repeats is reported once. */
  add(offset: number, whole: string, hint?: string): void {
    const message = whole.length > mostCharacters ? `${whole.slice(0, mostCharacters)}…` : whole
    const id = `${offset} ${message}`
    if (this.#found.has(id)) return
    if (this.isFull) {
      this.#leftOut++
      return
    }
    const place = { file: this.#file, ...this.#lines.placeOf(offset) }
    this.#found.set(id, hint === undefined ? { message, place } : { message, place, hint })
    this.#offsets.add(offset)
  }

  hasAt(offset: number): boolean {
    return this.#offsets.has(offset)
  }

  /** Further faults are only counted, so their details are not needed. */
  get isFull(): boolean {
    return this.#found.size === mostPerList
  }

  toArray(): RuleFault[] {
    const faults = [...this.#found.values()]
    const last = faults.at(-1)
    if (this.#leftOut > 0 && last !== undefined) {
      faults.push({ message: `and ${this.#leftOut} more of this kind`, place: last.place })
    }
    return faults
  }
}
