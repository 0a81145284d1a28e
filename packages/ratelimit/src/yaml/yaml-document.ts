import { createRequire } from 'node:module'
import type { Alias, Document, Pair, Range, Scalar, YAMLMap, YAMLSeq } from 'yaml'
import { quote } from './quote.ts'
import { settleEntries, type WrittenEntry } from './yaml-map.ts'
import {
  type ScalarType,
  toScalarType,
  type YamlDocument,
  type YamlNode,
  type YamlNote,
  type YamlScalar,
} from './yaml-node.ts'

let loaded: typeof import('yaml') | undefined

/** Loaded on demand: most texts are read without the library, which is larger than everything else. */
function loadYaml(): typeof import('yaml') {
  loaded ??= createRequire(import.meta.url)('yaml') as typeof import('yaml')
  return loaded
}

const isAlias = (node: unknown): node is Alias => loadYaml().isAlias(node)
const isScalar = (node: unknown): node is Scalar => loadYaml().isScalar(node)
const isMap = (node: unknown): node is YAMLMap => loadYaml().isMap(node)
const isSeq = (node: unknown): node is YAMLSeq => loadYaml().isSeq(node)

/** Deeper than any rule needs: 500 levels of descriptors. */
const deepest = 1000

/** The maximum number of values that aliases may add. Ten levels of nine aliases each would be 3 billion. */
const mostFromAliases = 1_000_000

/**
 * Reads the first document of any YAML text with the `yaml` library.
 * `start` is the offset of the text in the file, if it is a part of one.
 */
export function readDocument(text: string, start = 0): YamlDocument {
  const document = composeFirst(text)
  const faults = toFaults(document, text)
  const warnings: YamlNote[] = []
  if (faults.length > 0) return { root: undefined, faults, warnings }
  const root = new Conversion(start, faults, warnings).convert(document?.contents, start, 0)
  return { root: faults.length > 0 ? undefined : root, faults, warnings }
}

/** Scalars are kept as text, because the library's YAML 1.1 types differ from those of the Go library. */
const options = {
  version: '1.1',
  schema: 'failsafe',
  uniqueKeys: false,
  resolveKnownTags: false,
} as const

function composeFirst(text: string): Document | undefined {
  const { Composer, Parser } = loadYaml()
  const composer = new Composer(options)
  let hasDocument = false
  for (const token of new Parser().parse(text)) {
    if (hasDocument && (token.type === 'document' || token.type === 'directive')) break
    for (const document of composer.next(token)) return document
    if (hasDocument && token.type === 'doc-end') break
    hasDocument ||= token.type === 'document'
  }
  for (const document of composer.end()) return document
  return undefined
}

/** Returns one fault per line: further ones on the same line are mostly consequences. */
function toFaults(document: Document | undefined, text: string): YamlNote[] {
  const faults: YamlNote[] = []
  for (const { code, pos, message } of document?.errors ?? []) {
    const offset = pos[0]
    if (code === 'RESOURCE_EXHAUSTION') return [tooDeep(offset)]
    const before = faults.at(-1)?.offset
    const isEcho = before !== undefined && !text.slice(before, offset).includes('\n')
    if (!isEcho) faults.push({ offset, message })
  }
  return faults
}

function tooDeep(offset: number): YamlNote {
  return { offset, message: `nested deeper than ${deepest} levels` }
}

interface Anchor {
  /** Undefined while the node is being read, because an alias to it would be endless. */
  node: YamlNode | undefined
  size: number
}

/** Converts the library's nodes to ours. Every written node costs one step, including aliases. */
class Conversion {
  readonly #textStart: number
  readonly #faults: YamlNote[]
  readonly #warnings: YamlNote[]
  readonly #anchors = new Map<string, Anchor>()
  #written = 0
  #fromAliases = 0

  constructor(textStart: number, faults: YamlNote[], warnings: YamlNote[]) {
    this.#textStart = textStart
    this.#faults = faults
    this.#warnings = warnings
  }

  convert(node: unknown, offset: number, depth: number): YamlNode {
    if (isAlias(node)) return this.#convertAlias(node)
    const name = hasAnchor(node) ? node.anchor : undefined
    if (name === undefined) return this.#convertValue(node, offset, depth)
    const anchor: Anchor = { node: undefined, size: 0 }
    this.#anchors.set(name, anchor)
    const before = this.#written + this.#fromAliases
    anchor.node = this.#convertValue(node, offset, depth)
    anchor.size = this.#written + this.#fromAliases - before
    return anchor.node
  }

  #convertValue(node: unknown, offset: number, depth: number): YamlNode {
    this.#written++
    if (isScalar(node)) return this.#convertScalar(node, offset)
    if (depth >= deepest) {
      this.#faults.push(tooDeep(offset))
      return nothing(offset)
    }
    if (isMap(node)) return this.#convertMap(node, depth)
    if (isSeq(node)) return this.#convertList(node, depth)
    return nothing(offset)
  }

  #convertScalar(node: Scalar, offset: number): YamlScalar {
    const text = node.source ?? ''
    // An empty value has no place, so that of its key is used.
    const isEmpty = text === '' && node.type === 'PLAIN'
    const at = isEmpty ? offset : this.#startOf(node)
    if (node.tag !== undefined) return toTaggedScalar(node.tag, text, at, this.#faults)
    const type = node.type === 'PLAIN' ? toScalarType(text) : 'string'
    return { kind: 'scalar', text, type, offset: at }
  }

  #convertList(node: YAMLSeq, depth: number): YamlNode {
    const offset = this.#startOf(node)
    const items = node.items.map((item) => this.convert(item, offset, depth + 1))
    return { kind: 'list', items, offset }
  }

  #convertMap(node: YAMLMap, depth: number): YamlNode {
    const offset = this.#startOf(node)
    const written: WrittenEntry[] = []
    for (const pair of node.items) {
      const entry = this.#convertPair(pair, offset, depth + 1)
      if (entry !== undefined) written.push(entry)
    }
    const entries = settleEntries(written, this.#faults, this.#warnings)
    return { kind: 'map', entries, offset }
  }

  #convertPair(pair: Pair, offset: number, depth: number): WrittenEntry | undefined {
    const key = this.convert(pair.key, offset, depth)
    const value = this.convert(pair.value, key.offset, depth)
    if (key.kind !== 'scalar') {
      const message = `invalid map key: a ${key.kind} cannot be a key`
      this.#faults.push({ offset: key.offset, message })
      return undefined
    }
    const nameType = isMergeKey(pair.key) ? 'merge' : key.type
    return { name: key.text, nameType, offset: key.offset, value }
  }

  #convertAlias(alias: Alias): YamlNode {
    const at = this.#startOf(alias)
    const anchor = this.#anchors.get(alias.source)
    const limit = `aliases expand to more than ${mostFromAliases} values`
    this.#fromAliases += anchor?.size ?? 1
    if (anchor === undefined) this.#fault(at, `unknown anchor ${quote(alias.source)} referenced`)
    else if (anchor.node === undefined)
      this.#fault(at, `anchor ${quote(alias.source)} contains itself`)
    else if (this.#fromAliases > mostFromAliases) this.#fault(at, limit)
    else return anchor.node
    return nothing(at)
  }

  #startOf(node: { readonly range?: Range | null | undefined }): number {
    return this.#textStart + (node.range?.[0] ?? 0)
  }

  #fault(offset: number, message: string): void {
    this.#faults.push({ offset, message })
  }
}

function nothing(offset: number): YamlScalar {
  return { kind: 'scalar', text: '', type: 'null', offset }
}

function hasAnchor(node: unknown): node is { anchor?: string } {
  return isScalar(node) || isMap(node) || isSeq(node)
}

function isMergeKey(key: unknown): boolean {
  if (!isScalar(key) || key.source !== '<<') return false
  return key.tag === undefined ? key.type === 'PLAIN' : key.tag === 'tag:yaml.org,2002:merge'
}

const prefix = 'tag:yaml.org,2002:'

/** The types of tags. A scalar with any other tag stays text, as in the Go library. */
const taggedTypes: Readonly<Record<string, ScalarType>> = {
  int: 'integer',
  float: 'float',
  bool: 'boolean',
  null: 'null',
}

/** A scalar such as `!!str 5` or `!!int "5"`, written with a tag. */
function toTaggedScalar(tag: string, text: string, offset: number, faults: YamlNote[]): YamlScalar {
  const name = tag.startsWith(prefix) ? tag.slice(prefix.length) : ''
  if (name === 'binary') {
    if (!base64.test(text)) faults.push({ offset, message: '!!binary value is not base64' })
    const decoded = Buffer.from(text, 'base64').toString('utf8')
    return { kind: 'scalar', text: decoded, type: 'string', offset }
  }
  const type = Object.hasOwn(taggedTypes, name) ? taggedTypes[name] : undefined
  if (type === undefined) return { kind: 'scalar', text, type: 'string', offset }
  const written = toScalarType(text)
  if (written !== type && !(type === 'float' && written === 'integer')) {
    faults.push({ offset, message: `cannot read ${quote(text)} as a !!${name}` })
  }
  return { kind: 'scalar', text, type, offset }
}

const base64 = /^(?:[A-Za-z0-9+/]{4}|\s)*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?\s*$/
