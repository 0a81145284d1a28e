import type { YamlNode } from '../../rules/yaml/yaml-node.ts'
import { expectedFields } from './expected-fields.ts'
import { type FileReading, isWhole } from './file-reading.ts'
import type { Wanted } from './policy-test.ts'

const fieldNames = Object.keys(expectedFields)

/**
 * `ok`, or a map of fields. Of a request with one descriptor they are the fields of its status; of
 * one with several `descriptors` lists what is expected of each.
 */
export function parseExpectation(
  node: YamlNode,
  descriptorCount: number,
  reading: FileReading,
): Wanted[] {
  if (node.kind === 'scalar') return [...parseWanted('code', node, undefined, reading)]
  const fields = reading.fields(node, 'expect', [...fieldNames, 'descriptors'])
  const wanted: Wanted[] = []
  if (fields.size === 0 && isWhole(node, fields)) {
    reading.faults.add(node.offset, 'expect is empty', `it may have ${fieldNames.join(', ')}`)
  }
  for (const [name, value] of fields) {
    if (name === 'descriptors') {
      wanted.push(...parseList(value, descriptorCount, reading))
    } else if (name === 'code') {
      wanted.push(...parseWanted(name, value, undefined, reading))
    } else if (descriptorCount === 1) {
      wanted.push(...parseWanted(name, value, 0, reading))
    } else {
      const message = `the request has ${descriptorCount} descriptors: whose ${name} is it?`
      reading.faults.add(value.offset, message, 'write expect: { descriptors: [ {…}, {…} ] }')
    }
  }
  return wanted
}

function parseList(node: YamlNode, descriptorCount: number, reading: FileReading): Wanted[] {
  const items = reading.items(node, 'descriptors')
  if (items.length > 0 && items.length !== descriptorCount) {
    const counts = `${items.length} are expected and ${descriptorCount} sent`
    reading.faults.add(node.offset, `the numbers of descriptors differ: ${counts}`)
  }
  return items.flatMap((item, index) => {
    if (item.kind === 'scalar') return parseWanted('code', item, index, reading)
    const fields = reading.fields(item, 'what is expected of a descriptor', fieldNames)
    return [...fields].flatMap(([name, value]) => parseWanted(name, value, index, reading))
  })
}

/** One, or none and a fault. */
function parseWanted(
  field: string,
  node: YamlNode,
  descriptor: number | undefined,
  reading: FileReading,
): Wanted[] {
  const { parse, form } = expectedFields[field] ?? {}
  const text = node.kind === 'scalar' ? parse?.(node.text) : undefined
  if (text !== undefined) return [{ field, descriptor, text, place: reading.placeOf(node) }]
  reading.refuse(node, `${field} must be ${form}`)
  return []
}
