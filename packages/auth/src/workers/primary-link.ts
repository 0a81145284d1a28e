import type { Socket } from 'node:net'
import type { StopSignal } from '@portcullis/service-kit/lifecycle'
import type { LimiterName } from '../core/request-limits.ts'
import type { Group } from './group.ts'
import type { Admitted, FromWorker, ToWorker } from './messages.ts'

/** The part of `process` that leads to the process which started it. */
export interface Channel {
  readonly connected: boolean
  send?(message: FromWorker, handle: undefined, options: undefined, done: SendDone): boolean
}

type SendDone = (error: Error | null) => void
type Adopt = (socket: Socket) => void
type Taken = (limiter: LimiterName, key: string, count: number) => void

/**
 * How long others may not know of a request that passed here. A message for each would cost as much
 * as the request; one now and then costs nothing.
 */
const tellAfterMs = 100

/** A worker's side of what it has with its primary. */
export class PrimaryLink implements Group {
  readonly number: number
  readonly size: number
  readonly peers: Group['peers']
  readonly #channel: Channel
  readonly #onStop: (signal: StopSignal) => void
  #adopt: Adopt = (socket) => socket.destroy()
  #taken: Taken = () => {}
  #untold = new Map<string, Admitted>()

  constructor(
    channel: Channel,
    place: { readonly number: number; readonly size: number },
    onStop: (signal: StopSignal) => void,
  ) {
    this.#channel = channel
    this.number = place.number
    this.size = place.size
    this.#onStop = onStop
    this.peers = {
      tell: (limiter, key) => this.#count(limiter, key),
      hear: (taken) => {
        this.#taken = taken
      },
    }
  }

  /** Resolves when the message is on its way, or cannot be: then the primary is gone. */
  send(message: FromWorker): Promise<void> {
    if (!this.#channel.connected) return Promise.resolve()
    return new Promise((resolve) => {
      this.#channel.send?.(message, undefined, undefined, () => resolve())
    })
  }

  receive(adopt: Adopt): void {
    this.#adopt = adopt
  }

  tellClosed(): void {
    void this.send({ kind: 'closed' })
  }

  take(message: ToWorker, socket: Socket | undefined): void {
    if (message.kind === 'connection') {
      // A client may leave while its connection is on the way.
      if (socket === undefined) this.tellClosed()
      else this.#adopt(socket)
      void this.send({ kind: 'adopted' })
    } else if (message.kind === 'admitted') {
      for (const [limiter, key, count] of message.counts) this.#taken(limiter, key, count)
    } else if (message.kind === 'stop') this.#onStop(message.signal)
  }

  #count(limiter: LimiterName, key: string): void {
    if (this.#untold.size === 0) setTimeout(() => this.#tellCounts(), tellAfterMs).unref()
    const id = `${limiter}\0${key}`
    this.#untold.set(id, [limiter, key, (this.#untold.get(id)?.[2] ?? 0) + 1])
  }

  #tellCounts(): void {
    const counts = [...this.#untold.values()]
    this.#untold = new Map()
    void this.send({ kind: 'admitted', counts })
  }
}
