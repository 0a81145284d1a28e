import { quote } from './quote.ts'
import type { ScalarType, YamlEntry, YamlMap, YamlNode, YamlNote } from './yaml-node.ts'

/** An entry as written, whose name may be the merge key `<<`. */
export interface WrittenEntry {
  readonly name: string
  readonly nameType: ScalarType | 'merge'
  readonly offset: number
  readonly value: YamlNode
}

/**
 * The Go library reads a second `rate_limit` into the structure of the first one, so a rule may merge a base
 * and repeat only the fields that differ.
 */
const joinedNames = new Set(['rate_limit', 'metadata'])

/**
 * Resolves merge keys and repeated names: the last one in the order of the text wins. In other YAML readers,
 * an explicit key wins over a merge that follows it; rule files keep the meaning that they have in
 * envoyproxy/ratelimit, with a warning.
 */
export function settleEntries(
  written: readonly WrittenEntry[],
  faults: YamlNote[],
  warnings: YamlNote[],
): readonly YamlEntry[] {
  return isSettled(written) ? written : new EntrySettler(faults, warnings).settle(written)
}

function isSettled(written: readonly WrittenEntry[]): written is readonly YamlEntry[] {
  if (written.length > 8) {
    const names = new Set(written.map((entry) => entry.name))
    return names.size === written.length && written.every((entry) => entry.nameType !== 'merge')
  }
  for (let later = 0; later < written.length; later++) {
    if (written[later]?.nameType === 'merge') return false
    for (let earlier = 0; earlier < later; earlier++) {
      if (written[earlier]?.name === written[later]?.name) return false
    }
  }
  return true
}

class EntrySettler {
  readonly #entries = new Map<string, YamlEntry>()
  readonly #merged = new Set<string>()
  readonly #faults: YamlNote[]
  readonly #warnings: YamlNote[]

  constructor(faults: YamlNote[], warnings: YamlNote[]) {
    this.#faults = faults
    this.#warnings = warnings
  }

  settle(written: readonly WrittenEntry[]): readonly YamlEntry[] {
    for (const entry of written) {
      const { name, nameType, offset, value } = entry
      if (nameType === 'merge') this.#merge(value, offset)
      else this.#put({ name, nameType, offset, value })
    }
    return [...this.#entries.values()]
  }

  #put(entry: YamlEntry): void {
    const id = `${entry.nameType} ${entry.name}`
    const before = this.#entries.get(id)
    if (before !== undefined && !this.#merged.has(id)) {
      const message = `${quote(entry.name)} occurs twice; the last one is used`
      this.#warnings.push({ offset: entry.offset, message })
    }
    this.#merged.delete(id)
    this.#entries.set(id, join(before, entry))
  }

  #merge(value: YamlNode, offset: number): void {
    // The first of several maps wins, so it is put last.
    const maps = value.kind === 'list' ? value.items.toReversed() : [value]
    for (const map of maps) {
      if (map.kind !== 'map') {
        const message = 'map merge requires map or sequence of maps as the value'
        this.#faults.push({ offset, message })
        return
      }
      for (const entry of map.entries) this.#putMerged(entry, offset)
    }
  }

  #putMerged(entry: YamlEntry, offset: number): void {
    const id = `${entry.nameType} ${entry.name}`
    const before = this.#entries.get(id)
    if (before !== undefined && !this.#merged.has(id)) {
      const message = `'<<' replaces the ${quote(entry.name)} written above it: write '<<' first`
      this.#warnings.push({ offset, message })
    } else {
      this.#merged.add(id)
    }
    this.#entries.set(id, join(before, entry))
  }
}

function join(before: YamlEntry | undefined, entry: YamlEntry): YamlEntry {
  const first = before?.value
  const second = entry.value
  if (first?.kind !== 'map' || second.kind !== 'map' || !joinedNames.has(entry.name)) return entry
  const entries = new Map(first.entries.map((field) => [field.name, field]))
  for (const field of second.entries) entries.set(field.name, field)
  const value: YamlMap = { kind: 'map', entries: [...entries.values()], offset: second.offset }
  return { ...entry, value }
}
