import assert from 'node:assert/strict'
import type { ReadLine } from '../../../../src/tools/replay/recorded-request.ts'

/** The descriptors of a parsed line, as `key=value key=value`. */
export function entriesOf(request: ReturnType<ReadLine>): string[] {
  assert(typeof request === 'object', `no request: ${request}`)
  return request.descriptors.map(({ entries }) =>
    entries.map(({ key, value }) => `${key}=${value}`).join(' '),
  )
}
