import type { Stream } from './stream.ts'

/**
 * The minimum number of remembered resets: a client that has not read our SETTINGS yet may open more
 * streams than a low limit allows.
 */
const MIN_RESET_IDS = 256

/** The maximum number of remembered gaps between stream identifiers; real clients leave none. */
const MAX_GAPS = 16

/** The state of a stream identifier without an open stream (RFC 9113 5.1). */
export type StreamIdState = 'idle' | 'skipped' | 'reset' | 'closed'

/**
 * The streams of one connection. The newest one stays outside the map until another begins or the
 * read is over: most calls are answered by then and never enter the map.
 */
export class StreamTable {
  /** The highest identifier the peer has used. */
  lastId = 0
  /** A lower bound of the expiry times of all streams. */
  earliestExpiryMs = Number.POSITIVE_INFINITY
  #newest: Stream | undefined
  readonly #streams = new Map<number, Stream>()
  /** Streams that the server reset: the peer may not know yet, so frames for them are ignored. */
  readonly #resetIds = new Set<number>()
  readonly #maxResetIds: number
  readonly #gaps: { readonly from: number; readonly to: number }[] = []

  /**
   * @param concurrentStreams at most this many streams can be reset before the client learns of the
   * first reset. From then on it sends no more frames for that stream, so older resets can be forgotten.
   */
  constructor(concurrentStreams: number) {
    this.#maxResetIds = Math.max(MIN_RESET_IDS, concurrentStreams)
  }

  /** The number of streams without the newest. */
  get parkedCount(): number {
    return this.#streams.size
  }

  get count(): number {
    return this.#streams.size + (this.#newest === undefined ? 0 : 1)
  }

  find(id: number): Stream | undefined {
    const newest = this.#newest
    if (newest !== undefined && newest.id === id) return newest
    return this.#streams.get(id)
  }

  add(stream: Stream): void {
    this.#newest = stream
  }

  /** Marks the identifier as used, whether or not a stream is created. */
  use(id: number): void {
    if (id > this.lastId + 2 && this.#gaps.length < MAX_GAPS) {
      this.#gaps.push({ from: this.lastId + 1, to: id - 1 })
    }
    this.lastId = id
  }

  /** Moves the newest stream to the map and returns it, unless it is already over. */
  park(): Stream | undefined {
    const stream = this.#newest
    if (stream === undefined) return undefined
    this.#newest = undefined
    this.#streams.set(stream.id, stream)
    if (stream.expiresAtMs < this.earliestExpiryMs) this.earliestExpiryMs = stream.expiresAtMs
    return stream
  }

  remove(stream: Stream): void {
    if (stream === this.#newest) this.#newest = undefined
    else this.#streams.delete(stream.id)
  }

  rememberReset(id: number): void {
    if (this.#resetIds.size >= this.#maxResetIds) {
      for (const oldest of this.#resetIds) {
        this.#resetIds.delete(oldest)
        break
      }
    }
    this.#resetIds.add(id)
  }

  /** True for a stream that the server reset, as long as it is remembered. */
  isReset(id: number): boolean {
    return this.#resetIds.has(id)
  }

  /** Why `find` returned no stream. */
  absence(id: number): StreamIdState {
    if (id > this.lastId) return 'idle'
    if (this.isReset(id)) return 'reset'
    for (const { from, to } of this.#gaps) {
      if (id >= from && id <= to) return 'skipped'
    }
    return 'closed'
  }

  *all(): Generator<Stream> {
    if (this.#newest !== undefined) yield this.#newest
    yield* this.#streams.values()
  }
}
