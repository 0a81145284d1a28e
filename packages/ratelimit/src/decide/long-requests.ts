import { StoreError } from '../counters/counter-store.ts'
import { DecodeError, type RateLimitRequest } from '../protocol/message.ts'
import { type Decided, OverloadError, ServiceError } from './decision.ts'

/** The size from which a request waits its turn; typical requests of proxies have a few hundred bytes. */
export const longBytes = 2_048
export const longDescriptors = 64

const mostWaiting = 1_000
const mostWaitingBytes = 64 * 2 ** 20

/** The work on a long request: each `yield` lets other requests run. */
export type Work = (decided: Decided) => Generator<void, void, void>

/** The approximate size of a descriptor or an entry without its texts. */
const objectBytes = 120

/** The approximate memory of a decoded request. */
export function toRequestBytes({ domain, descriptors }: RateLimitRequest): number {
  let bytes = objectBytes + domain.length
  for (const { entries } of descriptors) {
    bytes += objectBytes
    for (const { key, value } of entries) bytes += objectBytes + key.length + value.length
  }
  return bytes
}

interface Waiting {
  readonly work: Work
  readonly bytes: number
  readonly deadlineMs: number
  readonly decided: Decided
}

/**
 * A queue of long requests, which do not delay short ones: one is decided at a time, one slice in each turn
 * of the event loop. So clients that send long requests slow down only each other.
 */
export class LongRequests {
  readonly #queue: Waiting[] = []
  #bytes = 0
  #isBusy = false

  /** @param bytes - the memory that the request occupies while it waits */
  add(bytes: number, deadlineMs: number, decided: Decided, work: Work): void {
    if (this.#queue.length >= mostWaiting || this.#bytes + bytes > mostWaitingBytes) {
      decided(new OverloadError('too many large requests are already waiting'), undefined)
      return
    }
    this.#queue.push({ work, bytes, deadlineMs, decided })
    this.#bytes += bytes
    if (!this.#isBusy) this.#next()
  }

  #next(): void {
    const waiting = this.#queue.shift()
    this.#isBusy = waiting !== undefined
    if (waiting === undefined) return
    this.#bytes -= waiting.bytes
    setImmediate(() => this.#begin(waiting))
  }

  #begin({ work, deadlineMs, decided }: Waiting): void {
    if (deadlineMs <= performance.now()) {
      decided(
        new ServiceError('the deadline passed while the request waited for others'),
        undefined,
      )
      this.#next()
      return
    }
    const steps = work((error, response) => {
      decided(error, response)
      this.#next()
    })
    const step = (): void => {
      try {
        if (!steps.next().done) setImmediate(step)
      } catch (error) {
        const isKnown = error instanceof DecodeError || error instanceof StoreError
        decided(isKnown ? error : new ServiceError(`${error}`), undefined)
        this.#next()
      }
    }
    step()
  }
}
