import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  ProtocolError,
  type ReplyHandler,
  ReplyReader,
} from '../../../src/counters/memcached/reply-reader.ts'

type ReaderEvent = readonly [kind: string, ...rest: readonly (string | number)[]]

function readAll(pieces: readonly Buffer[]): ReaderEvent[] {
  const events: ReaderEvent[] = []
  const handler: ReplyHandler = {
    onValue: (name, count) => events.push(['value', name, count]),
    onEnd: () => events.push(['end']),
    onNumber: (value) => events.push(['number', value]),
    onStatus: (text) => events.push(['status', text]),
  }
  const reader = new ReplyReader(handler)
  for (const piece of pieces) reader.read(piece)
  return events
}

const readText = (text: string) => readAll([Buffer.from(text)])

test('each reply of the protocol is recognized', () => {
  assert.deepEqual(readText('END\r\n'), [['end']])
  assert.deepEqual(readText('17\r\n'), [['number', 17]])
  assert.deepEqual(readText('9007199254740991\r\n'), [['number', Number.MAX_SAFE_INTEGER]])
  assert.deepEqual(readText('NOT_FOUND\r\nSTORED\r\n'), [
    ['status', 'NOT_FOUND'],
    ['status', 'STORED'],
  ])
  assert.deepEqual(readText('SERVER_ERROR out of memory\r\n'), [
    ['status', 'SERVER_ERROR out of memory'],
  ])
  assert.deepEqual(readText('ENDING\r\n'), [['status', 'ENDING']])
  assert.deepEqual(readText('VALUE ü_1 0 2\r\n42\r\nVALUE b 5 1 77\r\n3\r\nEND\r\n'), [
    ['value', 'ü_1', 42],
    ['value', 'b', 3],
    ['end'],
  ])
})

test('spaces after a number come from decr, and other values are not counts', () => {
  const countOf = (value: string) => readText(`VALUE a 0 ${value.length}\r\n${value}\r\n`)[0]?.[2]
  assert.equal(countOf('5  '), 5)
  assert.equal(countOf('0'), 0)
  for (const value of ['', '  ', 'abc', '1a', '-1', '1 2', '\r\n', '1'.repeat(21)]) {
    assert.ok(Number.isNaN(countOf(value)), value)
  }
})

test('a value may contain text that looks like a reply', () => {
  const value = '1\r\nEND\r\nSTORED\r\n'
  assert.deepEqual(readText(`VALUE a 0 ${value.length}\r\n${value}\r\nEND\r\n`), [
    ['value', 'a', Number.NaN],
    ['end'],
  ])
})

test('replies are the same however the bytes are split', () => {
  const reply = fc.oneof(
    fc.constantFrom('END\r\n', 'STORED\r\n', 'NOT_FOUND\r\n', 'CLIENT_ERROR no\r\n'),
    fc.nat().map((value) => `${value}\r\n`),
    fc
      .tuple(fc.constantFrom('a_1', 'ü日🙂_2'), fc.nat(), fc.constantFrom('', '  '))
      .map(([name, value, end]) => {
        const data = `${value}${end}`
        return `VALUE ${name} 0 ${data.length}\r\n${data}\r\n`
      }),
  )
  const property = fc.property(fc.array(reply), fc.array(fc.nat()), (replies, cuts) => {
    const bytes = Buffer.from(replies.join(''))
    const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length]
    const sorted = places.sort((a, b) => a - b)
    const pieces = sorted.slice(1).map((end, i) => bytes.subarray(sorted[i], end))
    assert.deepEqual(readAll(pieces), readAll([bytes]))
  })
  fc.assert(property)
})

test('invalid replies are an error', () => {
  for (const text of ['VALUE a 0\r\n', 'VALUE a\r\n', 'VALUE a 0 -1\r\n', 'VALUE a 0 x\r\n']) {
    assert.throws(() => readText(text), ProtocolError, text)
  }
  assert.throws(() => readText('VALUE a 0 1\r\n123\r\n'), /not the announced one/)
  const endless = Array.from({ length: 40 }, () => Buffer.alloc(65_536, 'x'))
  assert.throws(() => readAll(endless), /too long/)
})

test('nothing is passed on after a stop', () => {
  const events: string[] = []
  const reader: ReplyReader = new ReplyReader({
    onValue: () => {},
    onEnd: () => {
      events.push('end')
      reader.stop()
    },
    onNumber: () => events.push('number'),
    onStatus: () => events.push('status'),
  })
  reader.read(Buffer.from('END\r\n5\r\nOK\r\n'))
  assert.deepEqual(events, ['end'])
})
