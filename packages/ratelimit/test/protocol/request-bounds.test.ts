import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findEncodedExcess } from '../../src/protocol/request-bounds.ts'

const bounds = { mostDescriptors: 10, mostEntries: 5 }

/** An encoded message with one field, which contains `bytes`. */
const toField = (number: number, ...bytes: Uint8Array[]) => {
  const content = Buffer.concat(bytes)
  assert.ok(content.length < 2 ** 14)
  const length = [(content.length & 0x7f) | 0x80, content.length >> 7]
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), content])
}

const repeat = (count: number, bytes: Uint8Array) => Buffer.concat(Array(count).fill(bytes))
const domain = toField(1, Buffer.from('d'))
const entry = toField(1, toField(1, Buffer.from('key')), toField(2, Buffer.from('value')))
const descriptor = toField(2, entry)

const find = (message: Buffer, end = message.length) => findEncodedExcess(message, 0, end, bounds)

test('the number of descriptors and of entries is limited', () => {
  assert.equal(find(Buffer.concat([domain, repeat(10, descriptor)])), undefined)
  assert.match(
    find(Buffer.concat([domain, repeat(11, descriptor)])) ?? '',
    /at most 10 descriptors/,
  )
  assert.equal(find(Buffer.concat([domain, toField(2, repeat(5, entry))])), undefined)
  assert.match(
    find(Buffer.concat([domain, toField(2, repeat(6, entry))])) ?? '',
    /at most 5 entries/,
  )
})

test('the beginning of a message is enough as soon as it exceeds a limit', () => {
  const manyDescriptors = Buffer.concat([domain, repeat(20, descriptor)])
  const enough = domain.length + 10 * descriptor.length + 1
  for (let end = 0; end <= manyDescriptors.length; end += 1) {
    assert.equal(find(manyDescriptors, end) !== undefined, end >= enough, `${end} bytes`)
  }

  const manyEntries = Buffer.concat([domain, toField(2, repeat(20, entry))])
  const fewEntries = domain.length + 3 + 5 * entry.length
  for (let end = 0; end <= manyEntries.length; end += 1) {
    const isExcess = find(manyEntries, end) !== undefined
    if (end <= fewEntries) assert.equal(isExcess, false, `${end} bytes`)
    if (end >= fewEntries + entry.length) assert.equal(isExcess, true, `${end} bytes`)
  }
})

test('no beginning of a request within the limits is refused', () => {
  const request = Buffer.concat([domain, repeat(10, toField(2, repeat(5, entry)))])
  for (let end = 0; end <= request.length; end += 1) assert.equal(find(request, end), undefined)
})
