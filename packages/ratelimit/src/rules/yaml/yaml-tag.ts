import { quote } from './quote.ts'
import type { YamlNote, YamlScalar } from './yaml-node.ts'
import { type ScalarType, toScalarType } from './yaml-scalar.ts'

const prefix = 'tag:yaml.org,2002:'

/** The type a tag asks for. Every other tag leaves text, as in the Go library. */
const taggedTypes: Readonly<Record<string, ScalarType>> = {
  int: 'integer',
  float: 'float',
  bool: 'boolean',
  null: 'null',
}

/** A scalar such as `!!str 5` or `!!int "5"`, written with a tag. */
export function toTaggedScalar(
  tag: string,
  text: string,
  offset: number,
  faults: YamlNote[],
): YamlScalar {
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
