import type { YamlNode } from '../../rules/yaml/yaml-node.ts'
import { type FileReading, isWhole } from './file-reading.ts'
import { parseExpectation } from './parse-expectation.ts'
import { parseRequest } from './parse-request.ts'
import type { Step } from './policy-test.ts'
import { parseInstantMs, parseSpanMs, toInstantText, toKnownInstant } from './times.ts'

export const stepFields = ['request', 'times', 'expect', 'advance', 'at']
const stepKinds = ['request', 'advance', 'at']
const mostTimes = 1_000_000

export interface StepContext {
  readonly domain: string | undefined
  /** When the step happens, in milliseconds since the epoch. */
  readonly nowMs: number
}

/** Undefined, with a fault, when it cannot be done. */
export function parseStep(
  node: YamlNode,
  context: StepContext,
  reading: FileReading,
): Step | undefined {
  const fields = reading.fields(node, 'a step', stepFields)
  const kinds = stepKinds.filter((kind) => fields.has(kind))
  if (kinds.length !== 1) {
    if (kinds.length > 1 || isWhole(node, fields)) {
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
  const message = `time does not go back: it is ${toInstantText(nowMs)} already`
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
