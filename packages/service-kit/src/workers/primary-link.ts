import type { Socket } from 'node:net'
import type { StopSignal } from '../lifecycle.ts'
import type { FromWorker, HandOver, Message, ToWorker } from './messages.ts'

/** The part of `process` that leads to the process which started it. */
export interface Channel<From extends Message> {
  readonly connected: boolean
  send?(message: FromWorker | From, handle: undefined, options: undefined, done: SendDone): boolean
}

type SendDone = (error: Error | null) => void
type Adopt = (socket: Socket) => void

/**
 * A worker's side of what it has with its primary; `WorkerProcess` is the other.
 * @typeParam To what the primary tells, besides what every primary does.
 * @typeParam From what the worker tells, besides what every worker does.
 */
export abstract class PrimaryLink<To extends Message, From extends Message> {
  readonly #channel: Channel<From>
  readonly #onStop: (signal: StopSignal) => void
  readonly #adopts = new Map<string, Adopt>()

  constructor(channel: Channel<From>, onStop: (signal: StopSignal) => void) {
    this.#channel = channel
    this.#onStop = onStop
  }

  /** What not every primary tells. */
  protected abstract hear(message: To): void

  /** A client may leave while its connection is on the way. */
  protected onNeverCame?(listener: string): void

  /** Resolves when the message is on its way, or cannot be: then the primary is gone. */
  send(message: FromWorker | From): Promise<void> {
    if (!this.#channel.connected) return Promise.resolve()
    return new Promise((resolve) => {
      this.#channel.send?.(message, undefined, undefined, () => resolve())
    })
  }

  /** Who gets the connections that clients opened to a listener. */
  pass(listener: string, adopt: Adopt): void {
    this.#adopts.set(listener, adopt)
  }

  take(message: ToWorker | To, socket: Socket | undefined): void {
    if (!isFromEveryPrimary(message)) this.hear(message)
    else if (message.kind === 'connection') this.#adopt(message, socket)
    else if (message.kind === 'stop') this.#onStop(message.signal)
  }

  #adopt({ listener, read }: HandOver, socket: Socket | undefined): void {
    const adopt = this.#adopts.get(listener)
    if (socket === undefined) this.onNeverCame?.(listener)
    else if (adopt === undefined) socket.destroy()
    else {
      adopt(socket)
      if (read !== undefined) socket.unshift(Buffer.from(read))
    }
    void this.send({ kind: 'adopted' })
  }
}

const kinds: ReadonlySet<string> = new Set<ToWorker['kind']>(['start', 'connection', 'stop'])

function isFromEveryPrimary(message: Message): message is ToWorker {
  return kinds.has(message.kind)
}
