import { byteAt, EMPTY, uint24At, uint31At } from '../bytes.ts'
import { FRAME_HEADER_SIZE, MAX_FRAME_SIZE, PREFACE } from './frames.ts'

/** Receives the frames of a connection, one per call. */
export interface FrameSink {
  /** True when no more frames are accepted. */
  readonly isClosed: boolean
  frame(
    type: number,
    flags: number,
    streamId: number,
    bytes: Buffer,
    start: number,
    end: number,
  ): void
  badPreface(): void
  frameTooLong(): void
}

/**
 * Splits the input into frames. Frames are passed on without copying; only a frame that is split
 * over two reads is copied, into a buffer no larger than the frame.
 */
export class FrameReader {
  readonly #sink: FrameSink
  #prefaceLeft = PREFACE.length
  /** The beginning of a split frame, of which `#filled` bytes have arrived. */
  #split: Buffer = EMPTY
  #filled = 0
  #isNewlyInside = false

  constructor(sink: FrameSink) {
    this.#sink = sink
  }

  /** Whether the last read ended inside a frame. */
  get isInsideFrame(): boolean {
    return this.#filled > 0
  }

  /** Whether the frame also began in the last read. */
  get isNewlyInside(): boolean {
    return this.#isNewlyInside
  }

  read(chunk: Buffer, end = chunk.length): void {
    const sink = this.#sink
    let at = 0
    this.#isNewlyInside = false
    if (this.#prefaceLeft > 0) {
      at = this.#readPreface(chunk, end)
      if (at < 0) return
    }
    if (this.#filled > 0) {
      at = this.#fill(chunk, at, end)
      if (at < 0) return
    }
    while (end - at >= FRAME_HEADER_SIZE) {
      const length = uint24At(chunk, at)
      if (length > MAX_FRAME_SIZE) {
        sink.frameTooLong()
        return
      }
      const start = at + FRAME_HEADER_SIZE
      const next = start + length
      if (next > end) break
      sink.frame(
        byteAt(chunk, at + 3),
        byteAt(chunk, at + 4),
        uint31At(chunk, at + 5),
        chunk,
        start,
        next,
      )
      if (sink.isClosed) return
      at = next
    }
    if (at < end) {
      this.#isNewlyInside = true
      this.#keep(chunk, at, end)
    }
  }

  /** Returns the offset of the first frame, or -1 if there is nothing more to read. */
  #readPreface(chunk: Buffer, end: number): number {
    const seen = PREFACE.length - this.#prefaceLeft
    const length = Math.min(this.#prefaceLeft, end)
    if (chunk.compare(PREFACE, seen, seen + length, 0, length) !== 0) {
      this.#sink.badPreface()
      return -1
    }
    this.#prefaceLeft -= length
    return this.#prefaceLeft === 0 ? length : -1
  }

  /** Continues the split frame. Returns the offset of the next frame, or -1 as above. */
  #fill(chunk: Buffer, start: number, end: number): number {
    let at = start
    if (this.#filled < FRAME_HEADER_SIZE) {
      at = this.#fillUpTo(FRAME_HEADER_SIZE, chunk, at, end)
      if (this.#filled < FRAME_HEADER_SIZE) return -1
    }
    const length = uint24At(this.#split, 0)
    if (length > MAX_FRAME_SIZE) {
      this.#sink.frameTooLong()
      return -1
    }
    const size = FRAME_HEADER_SIZE + length
    at = this.#fillUpTo(size, chunk, at, end)
    if (this.#filled < size) return -1
    const frame = this.#split
    this.#filled = 0
    this.#sink.frame(
      byteAt(frame, 3),
      byteAt(frame, 4),
      uint31At(frame, 5),
      frame,
      FRAME_HEADER_SIZE,
      size,
    )
    return this.#sink.isClosed ? -1 : at
  }

  #keep(chunk: Buffer, start: number, end: number): void {
    const hasLength = end - start >= FRAME_HEADER_SIZE
    const size = FRAME_HEADER_SIZE + (hasLength ? uint24At(chunk, start) : 0)
    this.#fillUpTo(size, chunk, start, end)
  }

  #fillUpTo(size: number, chunk: Buffer, start: number, end: number): number {
    if (this.#split.length < size) {
      const larger = Buffer.allocUnsafeSlow(size)
      this.#split.copy(larger, 0, 0, this.#filled)
      this.#split = larger
    }
    const to = Math.min(end, start + size - this.#filled)
    chunk.copy(this.#split, this.#filled, start, to)
    this.#filled += to - start
    return to
  }
}
