import type { Socket } from 'node:net'
import type { StopSignal } from '@portcullis/service-kit/lifecycle'
import { type Channel, PrimaryLink } from '@portcullis/service-kit/workers/primary-link'
import type { LimiterName } from '../limits/request-limits.ts'
import type { Group } from './group.ts'
import { type Admitted, type AdmittedMessage, type FromWorker, listener } from './messages.ts'

type Taken = (limiter: LimiterName, key: string, count: number) => void

/**
 * How long others may not know of a request that passed here. A message for each would cost as much
 * as the request; one now and then costs nothing.
 */
const tellAfterMs = 100

/** A worker's side of what it has with its primary. */
export class AuthLink extends PrimaryLink<AdmittedMessage, FromWorker> implements Group {
  readonly number: number
  readonly size: number
  readonly peers: Group['peers']
  #taken: Taken = () => {}
  #untold = new Map<string, Admitted>()

  constructor(
    channel: Channel<FromWorker>,
    place: { readonly number: number; readonly size: number },
    onStop: (signal: StopSignal) => void,
  ) {
    super(channel, onStop)
    this.number = place.number
    this.size = place.size
    this.peers = {
      tell: (limiter, key, count) => this.#count(limiter, key, count),
      hear: (taken) => {
        this.#taken = taken
      },
    }
  }

  receive(adopt: (socket: Socket) => void): void {
    this.pass(listener, adopt)
  }

  tellClosed(): void {
    void this.send({ kind: 'closed' })
  }

  warnOnce(topic: string, message: string): void {
    void this.send({ kind: 'warning', topic, message })
  }

  protected hear({ counts }: AdmittedMessage): void {
    for (const [limiter, key, count] of counts) this.#taken(limiter, key, count)
  }

  protected override onNeverCame(): void {
    this.tellClosed()
  }

  #count(limiter: LimiterName, key: string, count: number): void {
    if (this.#untold.size === 0) setTimeout(() => this.#tellCounts(), tellAfterMs).unref()
    const id = `${limiter}\0${key}`
    this.#untold.set(id, [limiter, key, (this.#untold.get(id)?.[2] ?? 0) + count])
  }

  #tellCounts(): void {
    const counts = [...this.#untold.values()]
    this.#untold = new Map()
    void this.send({ kind: 'admitted', counts })
  }
}
