import type { Limits } from '../limits.ts'

/** How many additional frames of the kinds that accompany calls each call allows. */
const PER_CALL = 4

/**
 * How many additional frames each sent byte allows: a client that reads long responses keeps
 * opening its windows, and grpc-go sends PINGs to measure the bandwidth. Bytes are counted, not
 * frames, since a window that opens byte by byte causes many frames.
 */
const PER_BYTE_SENT = 1 / 512

/**
 * A caller may cancel at its deadline while the response is in transit. After a pause of the server
 * this happens to many calls at once, but a client that does it with most of its calls is an
 * attacker.
 */
const LATE_RESETS_PER_CALL = 0.5

/** Ordinary text is never compressed to less than a 64th of its size. */
const MAX_TEXT_RATIO = 64

/**
 * What is counted, by the name of its limit, and how much calls and sent bytes add to the limit.
 */
const kinds = [
  { limit: 'resetsPerSecond', perCall: 0, perByteSent: 0 },
  { limit: 'streamErrorsPerSecond', perCall: 0, perByteSent: 0 },
  { limit: 'settingsPerSecond', perCall: 0, perByteSent: 0 },
  { limit: 'pingsPerSecond', perCall: PER_CALL, perByteSent: PER_BYTE_SENT },
  { limit: 'emptyDataPerSecond', perCall: PER_CALL, perByteSent: 0 },
  { limit: 'prioritiesPerSecond', perCall: PER_CALL, perByteSent: 0 },
  { limit: 'windowUpdatesPerSecond', perCall: PER_CALL, perByteSent: PER_BYTE_SENT },
  { limit: 'strayFramesPerSecond', perCall: PER_CALL, perByteSent: 0 },
  { limit: 'refusedStreamsPerSecond', perCall: 0, perByteSent: 0 },
  { limit: 'largeHeadersPerSecond', perCall: 0, perByteSent: 0 },
  { limit: 'smallDataPerSecond', perCall: PER_CALL, perByteSent: 0 },
  { limit: 'lateResetsPerSecond', perCall: LATE_RESETS_PER_CALL, perByteSent: 0 },
] as const satisfies readonly { limit: keyof Limits; perCall: number; perByteSent: number }[]

export const flood = {
  reset: 0,
  streamError: 1,
  settings: 2,
  ping: 3,
  emptyData: 4,
  priority: 5,
  windowUpdate: 6,
  stray: 7,
  refusedStream: 8,
  largeHeaders: 9,
  smallData: 10,
  lateReset: 11,
} as const

export type Flood = (typeof flood)[keyof typeof flood]

/** Counts the frames of one connection that cost the peer little and the server much. */
export class FloodMeter {
  /** Calls started in the current second. */
  calls = 0
  /** DATA bytes sent in the current second, except those of short responses. */
  sentBytes = 0
  readonly #limits: Limits
  readonly #counts = new Int32Array(kinds.length)
  #secondEndMs = 0
  /** Decompressed bytes in the current second, beyond 64 for each compressed byte. */
  #decompressedBytes = 0
  #discardedBytes = 0

  constructor(limits: Limits) {
    this.#limits = limits
  }

  /** Counts one more; returns the name of the limit if it is exceeded. */
  exceeded(kind: Flood, nowMs: number): string | undefined {
    this.#beginSecond(nowMs)
    const count = (this.#counts[kind] ?? 0) + 1
    this.#counts[kind] = count
    const { limit, perCall, perByteSent } = kinds[kind]
    const earned = perCall * this.calls + perByteSent * this.sentBytes
    return count > this.#limits[limit] + earned ? limit : undefined
  }

  /** Counts a decompressed message; returns the name of the limit if it is exceeded. */
  decompressed(fromBytes: number, toBytes: number, nowMs: number): string | undefined {
    this.#beginSecond(nowMs)
    this.#decompressedBytes += Math.max(0, toBytes - MAX_TEXT_RATIO * fromBytes)
    return this.#decompressedBytes > this.#limits.decompressedBytesPerSecond
      ? 'decompressedBytesPerSecond'
      : undefined
  }

  /** Counts the DATA of a call that has ended; returns the name of the limit if it is exceeded. */
  discarded(bytes: number, nowMs: number): string | undefined {
    this.#beginSecond(nowMs)
    this.#discardedBytes += bytes
    return this.#discardedBytes > this.#limits.discardedBytesPerSecond
      ? 'discardedBytesPerSecond'
      : undefined
  }

  #beginSecond(nowMs: number): void {
    if (nowMs < this.#secondEndMs) return
    this.#secondEndMs = nowMs + 1000
    this.#counts.fill(0)
    this.calls = 0
    this.sentBytes = 0
    this.#decompressedBytes = 0
    this.#discardedBytes = 0
  }
}
