import { settleEntries, type WrittenEntry } from './yaml-map.ts'
import { toScalarType, type YamlNode, type YamlNote } from './yaml-node.ts'

/**
 * Reads a collection in brackets with simple values, such as `{unit: day, requests_per_unit: 5}`, which many
 * rule files contain for every rule. Returns undefined for anything else, which the library must read.
 */
export function readFlow(text: string, at: number, warnings: YamlNote[]): FlowResult | undefined {
  const flow = new FlowReader(text, at, warnings)
  const node = flow.readNode(0)
  return node && { node, end: flow.position }
}

interface FlowResult {
  readonly node: YamlNode
  /** The offset after the collection. */
  readonly end: number
}

const deepest = 20

class FlowReader {
  position: number
  readonly #text: string
  readonly #warnings: YamlNote[]

  constructor(text: string, position: number, warnings: YamlNote[]) {
    this.#text = text
    this.position = position
    this.#warnings = warnings
  }

  readNode(depth: number): YamlNode | undefined {
    if (depth > deepest) return undefined
    const first = this.#text[this.position]
    if (first === '{') return this.#readMap(depth)
    if (first === '[') return this.#readList(depth)
    return this.#readScalar(first === '"' || first === "'")
  }

  #readScalar(isQuoted: boolean): YamlNode | undefined {
    const offset = this.position
    const found = this.#match(isQuoted ? quotedPattern : plainPattern)
    if (found === undefined) return undefined
    if (isQuoted) return { kind: 'scalar', text: found.slice(1, -1), type: 'string', offset }
    return { kind: 'scalar', text: found, type: toScalarType(found), offset }
  }

  #readList(depth: number): YamlNode | undefined {
    const offset = this.position
    const items: YamlNode[] = []
    const isComplete = this.#readParts(']', () => {
      const item = this.readNode(depth + 1)
      if (item !== undefined) items.push(item)
      return item !== undefined
    })
    return isComplete ? { kind: 'list', items, offset } : undefined
  }

  #readMap(depth: number): YamlNode | undefined {
    const offset = this.position
    const written: WrittenEntry[] = []
    const isComplete = this.#readParts('}', () => {
      const keyAt = this.position
      const name = this.#match(keyPattern)?.slice(0, -1)
      if (name === undefined) return false
      this.#skipSpaces()
      const value = this.readNode(depth + 1)
      if (value !== undefined) {
        written.push({ name, nameType: toScalarType(name), offset: keyAt, value })
      }
      return value !== undefined
    })
    if (!isComplete) return undefined
    // Without merge keys there can be no faults.
    return { kind: 'map', entries: settleEntries(written, [], this.#warnings), offset }
  }

  /** Reads the comma-separated parts between the brackets. */
  #readParts(closing: string, readPart: () => boolean): boolean {
    this.position++
    this.#skipSpaces()
    if (this.#take(closing)) return true
    for (;;) {
      if (!readPart()) return false
      this.#skipSpaces()
      if (this.#take(closing)) return true
      if (!this.#take(',')) return false
      this.#skipSpaces()
    }
  }

  #take(character: string): boolean {
    if (this.#text[this.position] !== character) return false
    this.position++
    return true
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.position
    const found = pattern.exec(this.#text)?.[0]
    if (found !== undefined) this.position += found.length
    return found
  }

  #skipSpaces(): void {
    while (this.#text.charCodeAt(this.position) === 0x20) this.position++
  }
}

const keyPattern = /[A-Za-z_][A-Za-z0-9_-]{0,99}:(?= )/y
const plainPattern = /[A-Za-z0-9_./+~$][A-Za-z0-9_./+~$*@%-]*(?=[ ,\]}])/y
const quotedPattern = /"[^"\\\t\r\n]*"(?=[ ,\]}])|'[^'\t\r\n]*'(?=[ ,\]}])/y
