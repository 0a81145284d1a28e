import type { Socket } from 'node:net'
import type { StopSignal } from '@portcullis/service-kit/lifecycle'
import type { Log, LogMessage } from '@portcullis/service-kit/log'
import type { ListenerName, Primary, ReportParts } from '../app/primary.ts'
import type { FromWorker, ToWorker } from './messages.ts'
import { Reports } from './reports.ts'

/** The part of `process` that leads to the process which started it. */
export interface Channel {
  readonly connected: boolean
  send?(message: FromWorker, handle: undefined, options: undefined, done: SendDone): boolean
}

type SendDone = (error: Error | null) => void
type Adopt = (socket: Socket) => void

/** A worker's side of what it has with its primary. */
export class PrimaryLink implements Primary {
  readonly #channel: Channel
  readonly #log: Log
  readonly #adopts = new Map<ListenerName, Adopt>()
  readonly #told = new Map<ListenerName, number>()
  #onTerminating: () => void = () => {}
  #reports: Reports | undefined
  #unsaid: string | undefined
  #isSpeaker: boolean
  readonly #onStop: (signal: StopSignal) => void

  constructor(
    channel: Channel,
    log: Log,
    { isSpeaker, onStop }: { isSpeaker: boolean; onStop: (signal: StopSignal) => void },
  ) {
    this.#channel = channel
    this.#log = log
    this.#isSpeaker = isSpeaker
    this.#onStop = onStop
  }

  /** Resolves when the message is on its way, or cannot be: then the primary is gone. */
  send(message: FromWorker): Promise<void> {
    if (!this.#channel.connected) return Promise.resolve()
    return new Promise((resolve) => {
      this.#channel.send?.(message, undefined, undefined, () => resolve())
    })
  }

  /** The last error that this worker kept to itself because another speaks for all. */
  get unsaidError(): string | undefined {
    return this.#unsaid
  }

  take(message: ToWorker, socket: Socket | undefined): void {
    if (message.kind === 'connection') this.#adopt(message.listener, socket)
    else if (message.kind === 'debug') this.#adopt('debug', socket, message.request)
    else if (message.kind === 'report') void this.#report(message.id)
    else if (message.kind === 'speak') this.#isSpeaker = true
    else if (message.kind === 'terminating') this.#onTerminating()
    else if (message.kind === 'stop') this.#onStop(message.signal)
  }

  toSharedLog(log: Log, hasOwn: () => boolean = () => false): Log {
    const speaks = () => this.#isSpeaker || hasOwn()
    const when = (level: Exclude<keyof Log, 'isEnabled'>) => (message: LogMessage) => {
      if (speaks()) log[level](message)
      else if (level === 'error') this.#unsaid = typeof message === 'string' ? message : message()
    }
    return {
      fatal: when('fatal'),
      error: when('error'),
      warning: when('warning'),
      info: when('info'),
      debug: when('debug'),
      trace: when('trace'),
      isEnabled: (level) => speaks() && log.isEnabled(level),
    }
  }

  onTerminating(tell: () => void): void {
    this.#onTerminating = tell
  }

  openReports(parts: ReportParts): AsyncDisposable {
    const send = (message: FromWorker) => this.send(message)
    this.#reports = new Reports({ ...parts, send, log: this.#log })
    return this.#reports
  }

  receive(listener: ListenerName, adopt: Adopt): void {
    this.#adopts.set(listener, adopt)
  }

  tellConnections(listener: ListenerName, count: number): void {
    if (this.#told.get(listener) === count) return
    this.#told.set(listener, count)
    void this.send({ kind: 'connections', listener, count })
  }

  #adopt(listener: ListenerName, socket: Socket | undefined, request?: string): void {
    const adopt = this.#adopts.get(listener)
    // A client may leave while its connection is on the way.
    if (socket !== undefined && adopt !== undefined) {
      adopt(socket)
      if (request !== undefined) socket.unshift(Buffer.from(request))
    } else {
      socket?.destroy()
    }
    void this.send({ kind: 'adopted' })
  }

  async #report(id: number): Promise<void> {
    await this.#reports?.report()
    await this.send({ kind: 'reported', id })
  }
}
