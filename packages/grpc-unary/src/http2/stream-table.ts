import type { Stream } from './stream.ts'

/** Resets to remember where few streams are allowed: a client may not know of that limit yet. */
const MIN_RESET_IDS = 256

/** Gaps worth remembering: no real client leaves any. */
const MAX_GAPS = 16

/** What a stream identifier stands for when no open stream has it (RFC 9113 5.1). */
export type Absence = 'idle' | 'skipped' | 'reset' | 'closed'

/**
 * The streams of one connection. The newest one stays outside the map until another begins or the
 * read is over: most calls are answered by then and never enter it.
 */
export class StreamTable {
  /** The highest identifier the peer has used. */
  lastId = 0
  /** A lower bound of the times at which streams expire. */
  earliestExpiryMs = Number.POSITIVE_INFINITY
  #newest: Stream | undefined
  readonly #streams = new Map<number, Stream>()
  /** Streams that we reset: the peer may not know yet, so what comes for them is ignored. */
  readonly #resetIds = new Set<number>()
  readonly #maxResetIds: number
  readonly #gaps: { readonly from: number; readonly to: number }[] = []

  /**
   * So many streams can be reset before the client knows of the first: a stream that it opens after
   * that comes behind everything it has sent for the others.
   */
  constructor(concurrentStreams: number) {
    this.#maxResetIds = Math.max(MIN_RESET_IDS, concurrentStreams)
  }

  /** Without the newest. */
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

  /** Marks the identifier as used, whether or not a stream comes of it. */
  use(id: number): void {
    if (id > this.lastId + 2 && this.#gaps.length < MAX_GAPS) {
      this.#gaps.push({ from: this.lastId + 1, to: id - 1 })
    }
    this.lastId = id
  }

  /** Returns the newest stream when it is not over yet and had to move into the map. */
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

  /** True for a stream that we reset, as far back as that is remembered. */
  isReset(id: number): boolean {
    return this.#resetIds.has(id)
  }

  /** Why `find` knows no such stream. */
  absence(id: number): Absence {
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
