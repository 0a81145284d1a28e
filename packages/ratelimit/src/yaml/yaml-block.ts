import { readDocument } from './yaml-document.ts'
import { readFlow } from './yaml-flow.ts'
import { settleEntries, type WrittenEntry } from './yaml-map.ts'
import {
  toScalarType,
  type YamlDocument,
  type YamlList,
  type YamlMap,
  type YamlNode,
  type YamlNote,
} from './yaml-node.ts'

/**
 * Parses the subset of YAML that nearly every rule file uses: block maps and lists, with values on one
 * line. Returns undefined for anything else, including invalid text, which the library then parses; its
 * result is always that of the library. It exists for large files: 100,000 rules take a tenth of the
 * library's time and memory.
 */
export function readBlockDocument(text: string): YamlDocument | undefined {
  const reader = new BlockReader(text)
  try {
    return reader.read()
  } catch (error) {
    if (error === unusual) return undefined
    throw error
  }
}

/** Thrown if the text is not in the subset. */
const unusual = new Error('not plain block YAML')

const deepest = 100
const endOfText = -1

class BlockReader {
  readonly #text: string
  readonly #faults: YamlNote[] = []
  readonly #warnings: YamlNote[] = []
  /** The current line: where its content starts, at which column, and where it ends. */
  #start = 0
  #indent = endOfText
  #end = -1
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  read(): YamlDocument {
    this.#advance()
    if (this.#indent === 0 && this.#text.startsWith('---', this.#start)) {
      if (this.#end !== this.#start + 3) throw unusual
      this.#advance()
    }
    if (this.#indent !== 0) throw unusual
    // A map that starts at the first column ends only with the text.
    const root = this.#readMap(0)
    if (this.#faults.length > 0) throw unusual
    return { root, faults: [], warnings: this.#warnings }
  }

  /** Goes to the next line that contains more than a comment. */
  #advance(): void {
    const text = this.#text
    let lineStart = this.#lineAfter(this.#end)
    while (lineStart < text.length) {
      let start = lineStart
      while (text.charCodeAt(start) === space) start++
      let end = text.indexOf('\n', start)
      if (end === -1) end = text.length
      const nextLine = end + 1
      if (end < text.length && text.charCodeAt(end - 1) === carriageReturn) end--
      if (start < end && text.charCodeAt(start) !== hash) {
        this.#start = start
        this.#indent = start - lineStart
        this.#end = end
        return
      }
      lineStart = nextLine
    }
    this.#start = text.length
    this.#end = text.length
    this.#indent = endOfText
  }

  #lineAfter(end: number): number {
    if (end < 0) return 0
    const newline = this.#text.indexOf('\n', end)
    return newline === -1 ? this.#text.length : newline + 1
  }

  #readMap(indent: number): YamlMap {
    if (++this.#depth > deepest) throw unusual
    const offset = this.#start
    const written: WrittenEntry[] = []
    while (this.#indent === indent) written.push(this.#readEntry(indent))
    if (this.#indent > indent) throw unusual
    this.#depth--
    return { kind: 'map', entries: settleEntries(written, this.#faults, this.#warnings), offset }
  }

  #readEntry(indent: number): WrittenEntry {
    const offset = this.#start
    keyPattern.lastIndex = offset
    const name = keyPattern.exec(this.#text)?.[1]
    if (name === undefined) throw unusual
    const valueAt = this.#skipSpaces(offset + name.length + 1)
    const value = this.#isRestEmpty(valueAt)
      ? this.#readBelow(indent, offset)
      : this.#readValue(valueAt)
    return { name, nameType: toScalarType(name), offset, value }
  }

  /** Reads the value of a key that is alone on its line. */
  #readBelow(indent: number, keyAt: number): YamlNode {
    this.#advance()
    const isList = this.#indent >= indent && this.#isDash()
    if (isList) return this.#readList(this.#indent)
    if (this.#indent > indent) return this.#readMap(this.#indent)
    return { kind: 'scalar', text: '', type: 'null', offset: keyAt }
  }

  #readList(indent: number): YamlList {
    if (++this.#depth > deepest) throw unusual
    const offset = this.#start
    const items: YamlNode[] = []
    while (this.#indent === indent && this.#isDash()) items.push(this.#readItem())
    if (this.#indent > indent) throw unusual
    this.#depth--
    return { kind: 'list', items, offset }
  }

  #readItem(): YamlNode {
    const at = this.#skipSpaces(this.#start + 1)
    const first = this.#text.charCodeAt(at)
    if (first === openBrace) return this.#readBrackets(at)
    // The rest of the line is the first line of a map, as if the dash were one more space.
    this.#indent += at - this.#start
    this.#start = at
    return this.#readMap(this.#indent)
  }

  #readValue(at: number): YamlNode {
    const first = this.#text.charCodeAt(at)
    if (first === singleQuote || first === doubleQuote) return this.#readQuoted(at)
    if (first === openBrace || first === openBracket) return this.#readBrackets(at)
    const rest = this.#text.slice(at, this.#end)
    if (!plainPattern.test(rest)) throw unusual
    const comment = rest.indexOf(' #')
    const text = (comment === -1 ? rest : rest.slice(0, comment)).trimEnd()
    if (text.includes(': ') || text.endsWith(':')) throw unusual
    this.#advance()
    return { kind: 'scalar', text, type: toScalarType(text), offset: at }
  }

  #readQuoted(at: number): YamlNode {
    quotedPattern.lastIndex = at
    const quoted = quotedPattern.exec(this.#text)?.[0]
    if (quoted === undefined) return this.#readFragment(at)
    if (!this.#endsAfter(at + quoted.length)) throw unusual
    this.#advance()
    return { kind: 'scalar', text: quoted.slice(1, -1), type: 'string', offset: at }
  }

  #readBrackets(at: number): YamlNode {
    const warnings: YamlNote[] = []
    const flow = readFlow(this.#text, at, warnings)
    if (flow === undefined || !this.#endsAfter(flow.end)) return this.#readFragment(at)
    this.#warnings.push(...warnings)
    this.#advance()
    return flow.node
  }

  /** Whether nothing but a comment follows a value on its line. */
  #endsAfter(after: number): boolean {
    const rest = this.#skipSpaces(after)
    return rest >= this.#end || (rest > after && this.#text.charCodeAt(rest) === hash)
  }

  /** Reads a collection in brackets or a quoted text with escapes as a separate document. */
  #readFragment(at: number): YamlNode {
    const fragment = this.#text.slice(at, this.#end)
    const { root, warnings } = readDocument(fragment, at)
    const first = fragment.charCodeAt(0)
    const kind = first === openBrace ? 'map' : first === openBracket ? 'list' : 'scalar'
    if (root?.kind !== kind || root.offset !== at) throw unusual
    this.#warnings.push(...warnings)
    this.#advance()
    return root
  }

  #skipSpaces(from: number): number {
    let at = from
    while (this.#text.charCodeAt(at) === space) at++
    return at
  }

  #isRestEmpty(at: number): boolean {
    return at >= this.#end || this.#text.charCodeAt(at) === hash
  }

  #isDash(): boolean {
    const text = this.#text
    return text.charCodeAt(this.#start) === dash && text.charCodeAt(this.#start + 1) === space
  }
}

const space = 0x20
const carriageReturn = 0x0d
const hash = 0x23
const dash = 0x2d
const singleQuote = 0x27
const doubleQuote = 0x22
const openBrace = 0x7b
const openBracket = 0x5b

const keyPattern = /([A-Za-z_][A-Za-z0-9_-]{0,99}):(?= |\r?\n|$)/y
const plainPattern = /^[A-Za-z0-9_./+~$][\x20-\x7e]*$/
const quotedPattern = /"[^"\\\t\r\n]*"|'[^'\t\r\n]*'(?!')/y
