import {
  describe,
  FaultList,
  isNull,
  type Place,
  TextLines,
  toNumber,
  type YamlMap,
  type YamlNode,
} from '../../rules/index.ts'

/** A file of policy tests that is being parsed, with its faults. */
export class FileReading {
  readonly faults: FaultList
  readonly #file: string
  readonly #lines: TextLines

  constructor(file: string, text: string) {
    this.#file = file
    this.#lines = new TextLines(text)
    this.faults = new FaultList(file, this.#lines)
  }

  placeOf({ offset }: { readonly offset: number }): Place {
    return { file: this.#file, ...this.#lines.placeOf(offset) }
  }

  /** Returns the fields of a map by name. An unknown or empty field is a fault, and so is any other node. */
  fields(node: YamlNode, what: string, known: readonly string[]): ReadonlyMap<string, YamlNode> {
    const found = new Map<string, YamlNode>()
    for (const { name, offset, value } of this.map(node, what)?.entries ?? []) {
      if (!known.includes(name)) {
        this.faults.add(offset, `${what} has no field '${name}'`, `it may have ${known.join(', ')}`)
      } else if (isNull(value)) {
        this.faults.add(offset, `'${name}' is empty`)
      } else {
        found.set(name, value)
      }
    }
    return found
  }

  map(node: YamlNode, what: string): YamlMap | undefined {
    if (node.kind === 'map') return node
    this.refuse(node, `${what} must be a map`)
    return undefined
  }

  /** Returns the items of a list, which must not be empty. */
  items(node: YamlNode, what: string): readonly YamlNode[] {
    if (node.kind !== 'list') this.refuse(node, `${what} must be a list`)
    else if (node.items.length > 0) return node.items
    else this.faults.add(node.offset, `${what} must have at least one item`)
    return []
  }

  /** Accepts any scalar as the text in the file. */
  text(node: YamlNode, what: string): string | undefined {
    if (node.kind === 'scalar') return isNull(node) ? '' : node.text
    this.refuse(node, `${what} must be text`)
    return undefined
  }

  integer(node: YamlNode, what: string, least: number, most: number): number | undefined {
    if (node.kind === 'scalar' && node.type === 'integer') {
      const value = toNumber(node.text)
      if (value >= least && value <= most) return value
    }
    this.refuse(node, `${what} must be an integer from ${least} to ${most}`)
    return undefined
  }

  refuse(node: YamlNode, expectation: string, hint?: string): void {
    this.faults.add(node.offset, `${expectation}, not ${describe(node)}`, hint)
  }
}

/** Whether every field of a map is valid; otherwise a missing field may be the invalid one. */
export function isComplete(node: YamlNode, fields: ReadonlyMap<string, YamlNode>): boolean {
  return node.kind === 'map' && node.entries.length === fields.size
}
