import { type ScalarType, toBoolean, toNumber } from './yaml-scalar.ts'

/**
 * A YAML document in the form rules are read from: scalars keep their text, aliases are shared
 * nodes without cycles, merge keys and repeated keys are already settled.
 */
export type YamlNode = YamlScalar | YamlList | YamlMap

export interface YamlScalar {
  readonly kind: 'scalar'
  readonly text: string
  readonly type: ScalarType
  /** Where it stands in the text, from 0. */
  readonly offset: number
}

export interface YamlList {
  readonly kind: 'list'
  readonly items: readonly YamlNode[]
  readonly offset: number
}

export interface YamlMap {
  readonly kind: 'map'
  readonly entries: readonly YamlEntry[]
  readonly offset: number
}

export interface YamlEntry {
  readonly name: string
  /** What the name would be as a value: `1: x` has an integer as its key. */
  readonly nameType: ScalarType
  readonly offset: number
  readonly value: YamlNode
}

/** What one file holds. Without a root there are faults. */
export interface YamlDocument {
  readonly root: YamlNode | undefined
  readonly faults: readonly YamlNote[]
  readonly warnings: readonly YamlNote[]
}

export interface YamlNote {
  readonly offset: number
  readonly message: string
}

/** A value as Go prints it, which is how the messages of reference 3.4 show it. */
export function toGoText(node: YamlNode, mostLetters = 200): string {
  if (node.kind === 'scalar') return goScalars[node.type](node.text)
  let text = node.kind === 'list' ? '[' : 'map['
  let separator = ''
  const add = (name: string, value: YamlNode): boolean => {
    const room = mostLetters - text.length
    if (room < 0) return false
    text += separator + name + toGoText(value, room)
    separator = ' '
    return true
  }
  const isWhole =
    node.kind === 'list'
      ? node.items.every((item) => add('', item))
      : node.entries.every((entry) => add(`${entry.name}:`, entry.value))
  return isWhole ? `${text}]` : `${text} …]`
}

const goScalars: Record<ScalarType, (text: string) => string> = {
  string: (text) => text,
  integer: (text) => String(toNumber(text)),
  float: (text) => String(toNumber(text)).replace('Infinity', 'Inf').replace(/^Inf/, '+Inf'),
  boolean: (text) => String(toBoolean(text)),
  null: () => '<nil>',
}
