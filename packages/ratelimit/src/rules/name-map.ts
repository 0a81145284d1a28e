/**
 * A map by name that needs no table for a single entry. Most rules have one rule nested in them,
 * and with a hundred thousand of those each table is one more miss of the processor's caches.
 */
export class NameMap<Value> {
  #name = ''
  #sole: Value | undefined = undefined
  #table: Map<string, Value> | undefined = undefined

  get(name: string): Value | undefined {
    if (this.#table !== undefined) return this.#table.get(name)
    return name === this.#name ? this.#sole : undefined
  }

  has(name: string): boolean {
    return this.get(name) !== undefined
  }

  set(name: string, value: Value): void {
    if (this.#table !== undefined) {
      this.#table.set(name, value)
    } else if (this.#sole === undefined || this.#name === name) {
      this.#name = name
      this.#sole = value
    } else {
      this.#table = new Map([
        [this.#name, this.#sole],
        [name, value],
      ])
    }
  }

  /** In the order they were set. */
  *entries(): Generator<[string, Value]> {
    if (this.#table !== undefined) yield* this.#table
    else if (this.#sole !== undefined) yield [this.#name, this.#sole]
  }

  *names(): Generator<string> {
    for (const [name] of this.entries()) yield name
  }

  *values(): Generator<Value> {
    for (const [, value] of this.entries()) yield value
  }
}
