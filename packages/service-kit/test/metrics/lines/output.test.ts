import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LineQueue, maxBytes } from '../../../src/metrics/lines/output.ts'

test('at most 4 MiB of lines wait to be sent, and chunks consist of whole lines', () => {
  const queue = new LineQueue()
  const line = `${'é'.repeat(499)}\n`
  for (let i = 0; i < 10_000; i += 1) queue.add(line)
  assert.equal(queue.isFull, true)
  let bytes = 0
  for (let chunk = queue.take(); chunk; chunk = queue.take()) {
    assert.equal(chunk.toString().replaceAll(line, ''), '')
    bytes += chunk.length
  }
  assert.ok(bytes <= maxBytes && bytes > maxBytes - 1_000, `${bytes} bytes waited`)
  assert.equal(queue.isEmpty, true)
})
