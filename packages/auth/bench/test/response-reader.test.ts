import assert from 'node:assert/strict'
import test from 'node:test'
import { ResponseReader } from '../load/response-reader.ts'

const whole =
  'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\ncontent-length: 7\r\n\r\n{"a":1}'
const chunked =
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{"a"\r\n3;x=y\r\n:1}\r\n0\r\n\r\n'

test('a complete response is read, with a content length or in chunks', () => {
  const reader = new ResponseReader()
  for (const text of [whole, chunked]) {
    assert.deepEqual(reader.push(Buffer.from(text)), { status: 200, body: '{"a":1}' })
  }
})

test('a response that arrives byte by byte is complete with its last byte', () => {
  for (const text of [whole, chunked]) {
    const reader = new ResponseReader()
    const bytes = Buffer.from(text)
    const answers = Array.from(bytes, (_, at) => reader.push(bytes.subarray(at, at + 1)))
    assert.deepEqual(
      answers.slice(0, -1).filter((answer) => answer !== undefined),
      [],
    )
    assert.deepEqual(answers.at(-1), { status: 200, body: '{"a":1}' })
  }
})

test('a response without a body is complete with its headers', () => {
  const answer = new ResponseReader().push(Buffer.from('HTTP/1.1 204 No Content\r\n\r\n'))
  assert.deepEqual(answer, { status: 204, body: '' })
})
