import { reservedLabels } from '@portcullis/service-kit/metrics/prometheus/text'
import { toReason } from '@portcullis/service-kit/text/reason'
import {
  toBoolean,
  toGoText,
  toNumber,
  type YamlNode,
  type YamlNote,
} from '../../../yaml/yaml-node.ts'
import type { NamePattern } from './file-mapping.ts'

type FieldReaders = Readonly<Record<string, (value: YamlNode) => void>>

/** Reads the values of a mapping file, and collects their faults. */
export class MapperFields {
  readonly faults: YamlNote[]

  constructor(faults: YamlNote[]) {
    this.faults = faults
  }

  fault({ offset }: { readonly offset: number }, message: string): void {
    this.faults.push({ offset, message })
  }

  /** Calls the reader of each key in the map. */
  read(node: YamlNode, readers: FieldReaders): void {
    if (node.kind !== 'map') {
      this.fault(node, 'this must be a map of keys and values')
      return
    }
    for (const entry of node.entries) {
      const reader = Object.hasOwn(readers, entry.name) ? readers[entry.name] : undefined
      if (reader !== undefined) reader(entry.value)
      else
        this.fault(
          entry,
          `unknown key '${entry.name}': the keys are ${Object.keys(readers).join(', ')}`,
        )
    }
  }

  list(node: YamlNode): readonly YamlNode[] {
    if (node.kind === 'list') return node.items
    if (node.kind !== 'scalar' || node.type !== 'null') this.fault(node, 'this must be a list')
    return []
  }

  text(node: YamlNode): string {
    if (node.kind === 'scalar') return node.text
    this.fault(node, 'this must be text')
    return ''
  }

  number(node: YamlNode): number | undefined {
    const isNumber = node.kind === 'scalar' && (node.type === 'integer' || node.type === 'float')
    const value = isNumber ? toNumber(node.text) : Number.NaN
    if (Number.isFinite(value)) return value
    this.fault(node, `${toGoText(node)} is not a number`)
    return undefined
  }

  boolean(node: YamlNode): boolean {
    if (node.kind === 'scalar' && node.type === 'boolean') return toBoolean(node.text)
    this.fault(node, `${toGoText(node)} is neither true nor false`)
    return false
  }

  choice<Choice extends string>(node: YamlNode, choices: readonly Choice[]): Choice | undefined {
    const text = this.text(node)
    const choice = choices.find((each) => each === text)
    if (choice === undefined) this.fault(node, `'${text}' is not one of ${choices.join(', ')}`)
    return choice
  }

  /** Reads the upper bounds of buckets. Returns undefined for an empty list, so that the defaults apply. */
  ascending(node: YamlNode): readonly number[] | undefined {
    const numbers = this.list(node).map((item) => this.number(item) ?? Number.NaN)
    const isAscending = numbers.every((value, i) => i === 0 || !(value <= (numbers[i - 1] ?? 0)))
    if (!isAscending) this.fault(node, 'buckets must be ascending')
    return numbers.length === 0 ? undefined : numbers
  }

  /** Reads text in which `$1` and `${1}` stand for the captures of the match. */
  template(node: YamlNode, kind: 'name' | 'label'): string {
    const text = this.text(node)
    const fixed = text.replaceAll(/\$(?:\d+|\{\d+\})/g, '')
    if (fixed.includes('$'))
      this.fault(node, `'${text}': a dollar sign must be part of $1 or \${1}`)
    else if (kind === 'name' && (text === '' || /[^a-zA-Z0-9_:]/.test(fixed) || /^\d/.test(text))) {
      this.fault(node, `'${text}' is not a valid Prometheus metric name`)
    }
    return text
  }

  labels(node: YamlNode): [string, string][] {
    const labels: [string, string][] = []
    if (node.kind === 'scalar' && node.type === 'null') return labels
    if (node.kind !== 'map') {
      this.fault(node, 'labels must be a map')
      return labels
    }
    for (const { name, value, offset } of node.entries) {
      const isValid = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/.test(name) && !reservedLabels.includes(name)
      if (!isValid) this.fault({ offset }, `'${name}' is not a valid Prometheus label name`)
      labels.push([name, this.template(value, 'label')])
    }
    return labels
  }

  pattern(node: YamlNode, kind: NamePattern['kind']): NamePattern | undefined {
    const text = this.text(node)
    return kind === 'glob' ? this.#glob(node, text) : this.#regex(node, text)
  }

  #glob(node: YamlNode, text: string): NamePattern | undefined {
    const parts = text.split('.')
    const isValid = parts.every((part) => part === '*' || (part !== '' && !part.includes('*')))
    if (isValid) return { kind: 'glob', parts }
    this.fault(node, `invalid match '${text}': * must be a whole part between dots`)
    return undefined
  }

  /** Accepts Go's syntax for named groups, and for ignoring case at the start. */
  #regex(node: YamlNode, text: string): NamePattern | undefined {
    const ignoresCase = text.startsWith('(?i)')
    const source = (ignoresCase ? text.slice(4) : text).replaceAll('(?P<', '(?<')
    try {
      return { kind: 'regex', expression: new RegExp(source, ignoresCase ? 'is' : 's') }
    } catch (error) {
      this.fault(node, `invalid regex: ${toReason(error)}`)
      return undefined
    }
  }
}
