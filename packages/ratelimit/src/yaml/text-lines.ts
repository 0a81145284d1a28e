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
