import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HpackDecoder } from '../../src/hpack/decoder.ts'
import { ResponseEncoder } from '../../src/hpack/response-encoder.ts'

/** The encoder's output, read by a peer's decoder; `size` is the size of the block. */
function exchange() {
  const encoder = new ResponseEncoder()
  const decoder = new HpackDecoder(4096, 16_384)
  const bytes = Buffer.alloc(4096)
  const read = (end: number) => ({
    size: end,
    fields: decoder.decode(bytes, 0, end)?.map(({ name, value }) => `${name}: ${value}`),
  })
  return {
    encoder,
    headers: () => read(encoder.putOkHeaders(bytes, 0)),
    trailers: () => read(encoder.putOkTrailers(bytes, 0)),
    failure: () =>
      read(
        encoder.putHeaders(bytes, 0, 415, [
          ['grpc-status', '13'],
          ['grpc-message', 'x'.repeat(200)],
        ]),
      ),
  }
}

const okHeaders = [':status: 200', 'content-type: application/grpc']

test('the second response takes two bytes for its headers and one for its trailers', () => {
  const peer = exchange()
  assert.deepEqual(peer.headers().fields, okHeaders)
  assert.deepEqual(peer.trailers().fields, ['grpc-status: 0'])
  for (let i = 0; i < 3; i++) {
    assert.deepEqual(peer.headers(), { size: 2, fields: okHeaders })
    assert.deepEqual(peer.trailers(), { size: 1, fields: ['grpc-status: 0'] })
  }
})

test('the two fields may enter the table in any order', () => {
  const peer = exchange()
  peer.trailers()
  peer.headers()
  assert.deepEqual(peer.headers(), { size: 2, fields: okHeaders })
  assert.deepEqual(peer.trailers(), { size: 1, fields: ['grpc-status: 0'] })
})

test('failures do not change the table', () => {
  const peer = exchange()
  peer.headers()
  peer.trailers()
  assert.deepEqual(peer.failure().fields, [
    ':status: 415',
    'grpc-status: 13',
    `grpc-message: ${'x'.repeat(200)}`,
  ])
  assert.deepEqual(peer.headers(), { size: 2, fields: okHeaders })
})

for (const [what, sizes] of Object.entries({
  'a small table': [100],
  'no table': [0],
  'a table that shrinks and grows': [0, 4096],
  'a table that stays large enough': [512],
  'a table larger than the default': [65_536],
})) {
  test(`responses stay correct with ${what}`, () => {
    const peer = exchange()
    peer.headers()
    peer.trailers()
    for (const size of sizes) peer.encoder.setTableSize(size)
    for (let i = 0; i < 3; i++) {
      assert.deepEqual(peer.headers().fields, okHeaders)
      assert.deepEqual(peer.trailers().fields, ['grpc-status: 0'])
    }
    const isIndexing = (sizes.at(-1) ?? 0) >= 256
    assert.equal(peer.headers().size === 2, isIndexing)
  })
}
