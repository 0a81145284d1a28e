import assert from 'node:assert/strict'
import type { ReadLine } from '../../../../src/tools/replay/recorded-request.ts'

/** The descriptors of what a line says, as `key=value key=value`. */
export function entriesOf(request: ReturnType<ReadLine>): string[] {
  assert(typeof request === 'object', `no request: ${request}`)
  return request.descriptors.map(({ entries }) =>
    entries.map(({ key, value }) => `${key}=${value}`).join(' '),
  )
}
