import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { toFrame, toSettings, toWindowUpdate, walkFrames } from '../load/frames.ts'

interface SeenFrame {
  readonly type: number
  readonly flags: number
  readonly streamId: number
  readonly payload: string
}

function createReader() {
  const seen: SeenFrame[] = []
  return {
    seen,
    readFrame(
      type: number,
      flags: number,
      streamId: number,
      bytes: Uint8Array,
      start: number,
      end: number,
    ) {
      const payload = Buffer.from(bytes.subarray(start, end)).toString('hex')
      seen.push({ type, flags, streamId, payload })
    },
  }
}

const frame = fc.record({
  type: fc.integer({ min: 0, max: 9 }),
  flags: fc.integer({ min: 0, max: 255 }),
  streamId: fc.integer({ min: 0, max: 0x7fff_ffff }),
  payload: fc.uint8Array({ maxLength: 300 }),
})

test('written frames are read correctly, wherever the bytes are split', () => {
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 8 }), fc.nat(), (frames, cutAt) => {
      const bytes = Buffer.concat(
        frames.map(({ type, flags, streamId, payload }) => toFrame(type, flags, streamId, payload)),
      )
      const cut = bytes.length === 0 ? 0 : cutAt % bytes.length
      const reader = createReader()
      const used = walkFrames(bytes.subarray(0, cut), reader)
      assert.ok(used <= cut)
      assert.equal(walkFrames(bytes.subarray(used), reader), bytes.length - used)
      assert.deepEqual(
        reader.seen,
        frames.map(({ payload, ...rest }) => ({
          ...rest,
          payload: Buffer.from(payload).toString('hex'),
        })),
      )
    }),
  )
})

test('settings and window updates have the bytes of RFC 9113', () => {
  assert.equal(
    Buffer.from(toSettings([[4, 0x7fff_ffff]])).toString('hex'),
    '00000604000000000000047fffffff',
  )
  assert.equal(Buffer.from(toWindowUpdate(0, 65_535)).toString('hex'), '0000040800000000000000ffff')
})
