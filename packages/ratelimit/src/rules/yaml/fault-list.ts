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

/** Converts offsets in a text to lines and columns, which start at 1. */
export class TextLines {
  readonly #starts: number[] = [0]

  constructor(text: string) {
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) {
      this.#starts.push(end + 1)
    }
  }

  placeOf(offset: number): { line: number; column: number } {
    let low = 0
    let high = this.#starts.length
    while (high - low > 1) {
      const middle = (low + high) >>> 1
      if ((this.#starts[middle] ?? 0) <= offset) low = middle
      else high = middle
    }
    return { line: low + 1, column: offset - (this.#starts[low] ?? 0) + 1 }
  }
}

/** The maximum length of a quoted text in a message. */
const mostShown = 80

/** Quotes a text and truncates it, because a key may be as long as its file. */
export function quote(text: string): string {
  return `'${cutText(text)}'`
}

export function cutText(text: string): string {
  return text.length > mostShown ? `${text.slice(0, mostShown)}…` : text
}
