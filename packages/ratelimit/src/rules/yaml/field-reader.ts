import { TextLines } from '../../yaml/text-lines.ts'
import {
  toBoolean,
  toNumber,
  type YamlList,
  type YamlMap,
  type YamlNode,
} from '../../yaml/yaml-node.ts'
import { FaultList } from './fault-list.ts'

/** A file that is being parsed, with its faults in the order of the checks. */
export interface RuleFileReading {
  readonly name: string
  readonly lines: TextLines
  readonly syntax: FaultList
  readonly keys: FaultList
  readonly types: FaultList
  readonly rules: FaultList
  readonly warnings: FaultList
  /**
   * Maps with an invalid key or value, in which missing fields are not reported: they may be the invalid
   * ones.
   */
  readonly invalidMaps: Set<YamlMap>
}

export function createReading(name: string, text: string): RuleFileReading {
  const lines = new TextLines(text)
  const list = () => new FaultList(name, lines)
  return {
    name,
    lines,
    syntax: list(),
    keys: list(),
    types: list(),
    rules: list(),
    warnings: list(),
    invalidMaps: new Set(),
  }
}

/**
 * Reads the fields of one map. A value of the wrong type is a fault and counts as absent; null counts as
 * absent without a fault.
 */
export class FieldReader {
  readonly #map: YamlMap
  readonly #reading: RuleFileReading

  constructor(map: YamlMap, reading: RuleFileReading) {
    this.#map = map
    this.#reading = reading
  }

  /** Accepts any scalar as the text in the file: `value: 007` is the text 007. */
  text(name: string, node: YamlNode): string {
    if (node.kind !== 'scalar') {
      this.#refuse(name, 'text', node)
      return ''
    }
    return node.type === 'null' ? '' : node.text
  }

  flag(name: string, node: YamlNode): boolean {
    if (isNull(node)) return false
    if (node.kind === 'scalar' && node.type === 'boolean') return toBoolean(node.text)
    this.#refuse(name, 'true or false', node)
    return false
  }

  /** An unsigned 32-bit integer; undefined if it is absent. */
  count(name: string, node: YamlNode, least = 0): number | undefined {
    if (isNull(node)) return undefined
    if (node.kind === 'scalar' && node.type === 'integer') {
      const value = toNumber(node.text)
      if (value >= least && value < 2 ** 32) return value
    }
    this.#refuse(name, `an integer from ${least} to 4294967295`, node)
    return undefined
  }

  map(name: string, node: YamlNode): YamlMap | undefined {
    if (node.kind === 'map') return node
    if (!isNull(node)) this.#refuse(name, 'a map', node)
    return undefined
  }

  list(name: string, node: YamlNode): YamlList | undefined {
    if (node.kind === 'list') return node
    if (!isNull(node)) this.#refuse(name, 'a list', node)
    return undefined
  }

  #refuse(name: string, expected: string, node: YamlNode): void {
    const { keys, types, invalidMaps } = this.#reading
    invalidMaps.add(this.#map)
    if (keys.hasAt(node.offset)) return
    const message = `${name} must be ${expected}, not ${describe(node)}`
    types.add(node.offset, `error loading config file: ${message}`)
  }
}

export function isNull(node: YamlNode): boolean {
  return node.kind === 'scalar' && node.type === 'null'
}

/** Describes a value of the wrong type for a message. */
export function describe(node: YamlNode): string {
  if (node.kind !== 'scalar') return `a ${node.kind}`
  const text = node.text.length > 40 ? `${node.text.slice(0, 40)}…` : node.text
  return node.type === 'string' ? `the text '${text}'` : text
}
