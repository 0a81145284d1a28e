import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FrameReader } from '../../src/http2/frame-reader.ts'
import { PREFACE } from '../../src/http2/frames.ts'
import { frame } from '../support/raw-client.ts'

class Recorder {
  isClosed = false
  readonly seen: string[] = []

  frame(type: number, flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    this.seen.push(`${type} ${flags} ${id} ${bytes.toString('hex', start, end)}`)
  }

  badPreface(): void {
    this.seen.push('bad preface')
    this.isClosed = true
  }

  frameTooLong(): void {
    this.seen.push('too long')
    this.isClosed = true
  }
}

function read(chunks: readonly Buffer[]): string[] {
  const recorder = new Recorder()
  const reader = new FrameReader(recorder)
  for (const chunk of chunks) if (!recorder.isClosed) reader.read(chunk)
  return recorder.seen
}

const frames = fc.array(
  fc
    .tuple(fc.nat(20), fc.nat(255), fc.nat(2 ** 31 - 1), fc.uint8Array({ maxLength: 40 }))
    .map(([type, flags, id, payload]) => frame(type, flags, id, payload)),
  { maxLength: 12 },
)

test('frames are the same however the bytes are split', () => {
  fc.assert(
    fc.property(frames, fc.array(fc.nat(600)), (parts, cuts) => {
      const bytes = Buffer.concat([PREFACE, ...parts])
      const places = [...new Set(cuts.filter((cut) => cut < bytes.length))].sort((a, b) => a - b)
      const chunks = [0, ...places].map((from, index) => bytes.subarray(from, places[index]))
      const whole = read([bytes])
      assert.equal(whole.length, parts.length)
      assert.deepEqual(read(chunks), whole)
    }),
    { numRuns: 500 },
  )
})

test('a frame may arrive one byte at a time', () => {
  const bytes = Buffer.concat([PREFACE, frame(0, 1, 3, Buffer.from('hello'))])
  assert.deepEqual(read(Array.from(bytes, (byte) => Buffer.from([byte]))), ['0 1 3 68656c6c6f'])
})

test('an invalid preface is detected at its first wrong byte', () => {
  assert.deepEqual(read([Buffer.from('PRI * HTTP/1')]), ['bad preface'])
  assert.deepEqual(read([Buffer.from('PR'), Buffer.from('X')]), ['bad preface'])
})

test('a frame over the maximum is refused by its header alone, complete or split', () => {
  const header = frame(0, 0, 1, Buffer.alloc(16_385)).subarray(0, 9)
  assert.deepEqual(read([PREFACE, header]), ['too long'])
  assert.deepEqual(read([PREFACE, header.subarray(0, 4), header.subarray(4)]), ['too long'])
})
