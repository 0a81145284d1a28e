import type { Socket } from 'node:net'
import type { StopSignal } from '../process/lifecycle.ts'
import type { AddressCount, FromWorker, HandOver, Message, ToWorker } from './messages.ts'

/** The part of `process` that communicates with the parent process. */
export interface Channel<From extends Message> {
  readonly connected: boolean
  send?(message: FromWorker | From, handle: undefined, options: undefined, done: SendDone): boolean
}

type SendDone = (error: Error | null) => void
type Adopt = (socket: Socket) => void

/**
 * The worker's end of the channel to its primary; `WorkerProcess` is the other end.
 * @typeParam To the service's own messages from the primary.
 * @typeParam From the service's own messages from the worker.
 */
export abstract class PrimaryLink<To extends Message, From extends Message> {
  readonly #channel: Channel<From>
  readonly #onStop: (signal: StopSignal) => void
  readonly #adopts = new Map<string, Adopt>()
  /** The connections of each listener, as last reported to the primary. */
  readonly #counts = new Map<string, number>()
  /** The listener whose new connection is being taken over. */
  #adopting: string | undefined
  #adoptedAddress: AddressCount | undefined

  constructor(channel: Channel<From>, onStop: (signal: StopSignal) => void) {
    this.#channel = channel
    this.#onStop = onStop
  }

  /** Receives the service's own messages. */
  protected abstract handleMessage(message: To): void

  /** Resolves when the message was sent, or cannot be sent because the primary has ended. */
  send(message: FromWorker | From): Promise<void> {
    if (!this.#channel.connected) return Promise.resolve()
    return new Promise((resolve) => {
      this.#channel.send?.(message, undefined, undefined, () => resolve())
    })
  }

  /** Serves the connections that clients open to a listener. */
  serve(listener: string, adopt: Adopt): void {
    this.#adopts.set(listener, adopt)
  }

  /** Reports the number of connections of a listener; new ones go to the worker with the fewest. */
  reportConnections(listener: string, count: number): void {
    if (this.#counts.get(listener) === count) return
    this.#counts.set(listener, count)
    // The 'adopted' message contains the count.
    if (this.#adopting !== listener) void this.send({ kind: 'connections', listener, count })
  }

  /** Reports the number of connections of an address, if they are limited. */
  reportAddress(address: string, count: number): void {
    // With two messages, the primary would count the connection twice, or not at all, in between.
    if (this.#adopting !== undefined) this.#adoptedAddress = { address, count }
    else void this.send({ kind: 'address', address, count })
  }

  take(message: ToWorker | To, socket: Socket | undefined): void {
    if (!isFromEveryPrimary(message)) this.handleMessage(message)
    else if (message.kind === 'connection') this.#adopt(message, socket)
    else if (message.kind === 'stop') this.#onStop(message.signal)
  }

  /** @param socket undefined if the client disconnected during the transfer. */
  #adopt({ listener, read }: HandOver, socket: Socket | undefined): void {
    const adopt = this.#adopts.get(listener)
    if (socket !== undefined && adopt !== undefined) {
      this.#adopting = listener
      adopt(socket)
      this.#adopting = undefined
      if (read !== undefined) socket.unshift(Buffer.from(read))
    } else socket?.destroy()
    const address = this.#adoptedAddress
    this.#adoptedAddress = undefined
    void this.send({
      kind: 'adopted',
      count: this.#counts.get(listener) ?? 0,
      ...(address && { address }),
    })
  }
}

const kinds: ReadonlySet<string> = new Set<ToWorker['kind']>(['start', 'connection', 'stop'])

function isFromEveryPrimary(message: Message): message is ToWorker {
  return kinds.has(message.kind)
}
