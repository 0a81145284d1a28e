import type { YamlNode } from '../../rules/index.ts'
import { expectedFields } from './expected-fields.ts'
import { type FileReading, isComplete } from './file-reading.ts'
import { parseRequest } from './parse-request.ts'
import type { Expected, Step } from './policy-test.ts'
import { parseInstantMs, parseSpanMs, toInstantText, toKnownInstant } from './written-values.ts'

export const stepFields = ['request', 'times', 'expect', 'advance', 'at']
const stepKinds = ['request', 'advance', 'at']
const mostTimes = 1_000_000

export interface StepContext {
  readonly domain: string | undefined
  /** The time of the step, in milliseconds since the epoch. */
  readonly nowMs: number
}

/** Returns undefined and adds a fault if the step is invalid. */
export function parseStep(
  node: YamlNode,
  context: StepContext,
  reading: FileReading,
): Step | undefined {
  const fields = reading.fields(node, 'a step', stepFields)
  const kinds = stepKinds.filter((kind) => fields.has(kind))
  if (kinds.length !== 1) {
    if (kinds.length > 1 || isComplete(node, fields)) {
      reading.faults.add(node.offset, 'a step is one of request, advance and at')
    }
    return undefined
  }
  const request = fields.get('request')
  if (request !== undefined) return parseRequestStep(request, fields, context, reading)
  for (const name of ['times', 'expect']) {
    const stray = fields.get(name)
    if (stray !== undefined) reading.faults.add(stray.offset, `${name} belongs to a request`)
  }
  const advance = fields.get('advance')
  const at = fields.get('at')
  const nowMs =
    advance === undefined
      ? at && parseClock(at, context, reading)
      : parseAdvance(advance, context, reading)
  return nowMs === undefined ? undefined : { kind: 'clock', nowMs }
}

function parseRequestStep(
  node: YamlNode,
  fields: ReadonlyMap<string, YamlNode>,
  { domain }: StepContext,
  reading: FileReading,
): Step | undefined {
  const request = parseRequest(node, domain, reading)
  const times = fields.get('times')
  const count = times === undefined ? 1 : (reading.integer(times, 'times', 1, mostTimes) ?? 1)
  const expect = fields.get('expect')
  const wanted =
    expect === undefined || request === undefined
      ? []
      : parseExpectation(expect, request.descriptors.length, reading)
  return request && { kind: 'request', request, times: count, wanted }
}

function parseAdvance(
  node: YamlNode,
  { nowMs }: StepContext,
  reading: FileReading,
): number | undefined {
  const span = node.kind === 'scalar' ? parseSpanMs(node.text) : undefined
  if (span === undefined) {
    reading.refuse(node, "advance must be a time such as 60s, 1h30m or '2 days'")
    return undefined
  }
  const later = toKnownInstant(Math.round(nowMs + span))
  if (later === undefined) reading.faults.add(node.offset, 'advance leads beyond the year 9999')
  return later
}

function parseClock(
  node: YamlNode,
  { nowMs }: StepContext,
  reading: FileReading,
): number | undefined {
  const instant = parseInstant(node, reading)
  if (instant === undefined || instant >= nowMs) return instant
  const message = `time cannot go back: it is already ${toInstantText(nowMs)}`
  reading.faults.add(node.offset, message)
  return undefined
}

export function parseInstant(node: YamlNode, reading: FileReading): number | undefined {
  const instant = node.kind === 'scalar' ? parseInstantMs(node.text) : undefined
  if (instant === undefined) {
    reading.refuse(node, 'at must be a time such as 2026-01-01T12:00:00Z, from 1970 to 9999')
  }
  return instant
}

const fieldNames = Object.keys(expectedFields)

/**
 * `ok`, or a map of fields. For a request with one descriptor, they are the fields of its status; for one
 * with several, `descriptors` lists the expectation for each.
 */
function parseExpectation(
  node: YamlNode,
  descriptorCount: number,
  reading: FileReading,
): Expected[] {
  if (node.kind === 'scalar') return [...parseExpectedField('code', node, undefined, reading)]
  const fields = reading.fields(node, 'expect', [...fieldNames, 'descriptors'])
  const wanted: Expected[] = []
  if (fields.size === 0 && isComplete(node, fields)) {
    reading.faults.add(node.offset, 'expect is empty', `it may have ${fieldNames.join(', ')}`)
  }
  for (const [name, value] of fields) {
    if (name === 'descriptors') {
      wanted.push(...parseList(value, descriptorCount, reading))
    } else if (name === 'code') {
      wanted.push(...parseExpectedField(name, value, undefined, reading))
    } else if (descriptorCount === 1) {
      wanted.push(...parseExpectedField(name, value, 0, reading))
    } else {
      const message = `the request has ${descriptorCount} descriptors, so ${name} is ambiguous`
      reading.faults.add(value.offset, message, 'write expect: { descriptors: [ {…}, {…} ] }')
    }
  }
  return wanted
}

function parseList(node: YamlNode, descriptorCount: number, reading: FileReading): Expected[] {
  const items = reading.items(node, 'descriptors')
  if (items.length > 0 && items.length !== descriptorCount) {
    const counts = `${items.length} expected, ${descriptorCount} sent`
    reading.faults.add(node.offset, `the numbers of descriptors differ: ${counts}`)
  }
  return items.flatMap((item, index) => {
    if (item.kind === 'scalar') return parseExpectedField('code', item, index, reading)
    const fields = reading.fields(item, 'what is expected of a descriptor', fieldNames)
    return [...fields].flatMap(([name, value]) => parseExpectedField(name, value, index, reading))
  })
}

/** Returns one expectation, or none and adds a fault. */
function parseExpectedField(
  field: string,
  node: YamlNode,
  descriptor: number | undefined,
  reading: FileReading,
): Expected[] {
  const { parse, form } = expectedFields[field] ?? {}
  const text = node.kind === 'scalar' ? parse?.(node.text) : undefined
  if (text !== undefined) return [{ field, descriptor, text, place: reading.placeOf(node) }]
  reading.refuse(node, `${field} must be ${form}`)
  return []
}
