import { frameType, settingId } from '../src/http2/frames.ts'
import { frame, settings, uint32 } from '../test/support/raw-client.ts'
import type { Random } from './random.ts'
import type { Session } from './session.ts'

/** Invalid frames that random changes rarely produce. */
const hostileFrames: readonly [Buffer, ...Buffer[]] = [
  frame(frameType.DATA, 0x9, 1, Buffer.from([255, 0])),
  frame(frameType.DATA, 0x8, 1),
  frame(frameType.DATA, 0, 0, Buffer.alloc(3)),
  frame(frameType.HEADERS, 0x24, 1, Buffer.from([0, 0, 0, 1, 1, 0x82])),
  frame(frameType.HEADERS, 0x28, 1, Buffer.from([200, 0])),
  frame(frameType.HEADERS, 0x4, 2 ** 31 - 1, Buffer.from([0x82, 0x86, 0x84])),
  frame(frameType.HEADERS, 0x4, 1, Buffer.from([0x3f, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f])),
  frame(frameType.HEADERS, 0x5, 3, Buffer.from([0x80])),
  frame(frameType.PRIORITY, 0, 1, Buffer.from([0, 0, 0, 1, 0])),
  frame(frameType.RST_STREAM, 0, 1, uint32(8)),
  frame(frameType.RST_STREAM, 0, 99, uint32(0)),
  settings([settingId.INITIAL_WINDOW_SIZE, 2 ** 31 - 1]),
  settings([settingId.INITIAL_WINDOW_SIZE, 2 ** 31]),
  settings([settingId.HEADER_TABLE_SIZE, 2 ** 32 - 1]),
  settings([settingId.MAX_FRAME_SIZE, 0]),
  settings([settingId.ENABLE_PUSH, 2]),
  frame(frameType.SETTINGS, 1, 0),
  frame(frameType.SETTINGS, 1, 0, Buffer.alloc(6)),
  frame(frameType.SETTINGS, 0, 0, Buffer.alloc(5)),
  frame(frameType.PUSH_PROMISE, 4, 1, uint32(2)),
  frame(frameType.PING, 0, 0, Buffer.alloc(7)),
  frame(frameType.GOAWAY, 0, 0, Buffer.alloc(8, 0xff)),
  frame(frameType.WINDOW_UPDATE, 0, 0, uint32(0)),
  frame(frameType.WINDOW_UPDATE, 0, 0, uint32(2 ** 31 - 1)),
  frame(frameType.WINDOW_UPDATE, 0, 1, uint32(2 ** 31 - 1)),
  frame(frameType.WINDOW_UPDATE, 0, 1, uint32(0)),
  frame(frameType.CONTINUATION, 4, 1, Buffer.from([0x82])),
  frame(frameType.CONTINUATION, 0, 1),
  Buffer.from([0, 0x40, 1, 0, 0, 0, 0, 0, 1]),
  Buffer.from([0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1]),
]

type Sessions = readonly [Session, ...Session[]]

/** Changes whole frames. The first element is the preface. */
type FrameMutation = (frames: Buffer[], random: Random, sessions: Sessions) => void

const frameMutations: readonly [FrameMutation, ...FrameMutation[]] = [
  function drop(frames, random) {
    frames.splice(random.below(frames.length), 1)
  },
  function duplicate(frames, random) {
    const at = random.below(frames.length)
    frames.splice(at, 0, ...frames.slice(at, at + 1 + random.below(3)))
  },
  function swap(frames, random) {
    const at = random.below(frames.length)
    const [moved] = frames.splice(at, 1)
    if (moved) frames.splice(random.below(frames.length + 1), 0, moved)
  },
  function splice(frames, random, sessions) {
    const other = random.pick(sessions).frames
    const from = 1 + random.below(other.length)
    const some = other.slice(from, from + 1 + random.below(5))
    frames.splice(1 + random.below(frames.length), 0, ...some)
  },
  function intrude(frames, random) {
    frames.splice(1 + random.below(frames.length), 0, random.pick(hostileFrames))
  },
  function invent(frames, random) {
    const payload = Buffer.allocUnsafe(random.oneIn(8) ? random.below(300) : random.below(12))
    random.fill(payload)
    const id = random.oneIn(8) ? random.bits() >>> 1 : random.below(12)
    const invented = frame(random.below(11), random.below(256), id, payload)
    frames.splice(1 + random.below(frames.length), 0, invented)
  },
  /** Changes length, type, flags or stream of a frame and keeps its payload. */
  function relabel(frames, random) {
    const at = random.below(frames.length)
    const changed = Buffer.from(frames[at] ?? [])
    if (changed.length < 9) return
    const place = random.below(9)
    changed[place] = random.oneIn(2)
      ? random.below(256)
      : (changed[place] ?? 0) ^ (1 << random.below(8))
    frames[at] = changed
  },
  function shorten(frames, random) {
    const at = random.below(frames.length)
    const whole = frames[at]
    if (whole) frames[at] = whole.subarray(0, random.below(whole.length))
  },
]

/** Changes bytes at any position; returns how many are left. */
type ByteMutation = (bytes: Buffer, length: number, random: Random) => number

const interestingBytes = [0, 1, 4, 8, 9, 0x20, 0x3f, 0x40, 0x7f, 0x80, 0xbe, 0xff] as const

const byteMutations: readonly [ByteMutation, ...ByteMutation[]] = [
  function flipBits(bytes, length, random) {
    for (let count = random.between(1, 4); count > 0; count--) {
      const at = random.below(length)
      bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8))
    }
    return length
  },
  function overwrite(bytes, length, random) {
    bytes[random.below(length)] = random.pick(interestingBytes)
    return length
  },
  function scramble(bytes, length, random) {
    const at = random.below(length)
    random.fill(bytes.subarray(at, Math.min(length, at + random.below(16))))
    return length
  },
  function remove(bytes, length, random) {
    const at = random.below(length)
    const size = Math.min(length - at, random.between(1, 16))
    bytes.copyWithin(at, at + size, length)
    return length - size
  },
  function repeat(bytes, length, random) {
    const at = random.below(length)
    const size = Math.min(length - at, bytes.length - length, random.between(1, 32))
    bytes.copyWithin(at + size, at, length)
    return length + size
  },
  function cutOff(_bytes, length, random) {
    return random.below(length) + 1
  },
]

/** Spare room that `repeat` can grow into. */
const SPARE = 64

/** Turns a valid session into an invalid one. */
export function mutate(session: Session, random: Random, sessions: Sessions): Buffer {
  const frames = [...session.frames]
  for (let count = random.below(4); count > 0 && frames.length > 1; count--) {
    random.pick(frameMutations)(frames, random, sessions)
  }
  const whole = Buffer.concat(frames)
  const bytes = Buffer.allocUnsafe(whole.length + SPARE)
  whole.copy(bytes)
  let length = whole.length
  for (let count = random.below(3); count > 0 && length > 0; count--) {
    length = random.pick(byteMutations)(bytes, length, random)
  }
  return bytes.subarray(0, length)
}
