import type { Socket } from 'node:net'
import type { StopSignal } from '@portcullis/service-kit/lifecycle'
import type { Log, LogMessage } from '@portcullis/service-kit/log'
import { type Channel, PrimaryLink } from '@portcullis/service-kit/workers/primary-link'
import type { ListenerName, Primary, ReportParts } from '../app/primary.ts'
import type { FromWorker, ToWorker } from './messages.ts'
import { Reports } from './reports.ts'

/** A worker's side of what it has with its primary. */
export class RatelimitLink extends PrimaryLink<ToWorker, FromWorker> implements Primary {
  readonly #log: Log
  readonly #told = new Map<ListenerName, number>()
  #onTerminating: () => void = () => {}
  #reports: Reports | undefined
  #unsaid: string | undefined
  #isSpeaker: boolean

  constructor(
    channel: Channel<FromWorker>,
    log: Log,
    { isSpeaker, onStop }: { isSpeaker: boolean; onStop: (signal: StopSignal) => void },
  ) {
    super(channel, onStop)
    this.#log = log
    this.#isSpeaker = isSpeaker
  }

  /** The last error that this worker kept to itself because another speaks for all. */
  get unsaidError(): string | undefined {
    return this.#unsaid
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

  receive(listener: ListenerName, adopt: (socket: Socket) => void): void {
    this.pass(listener, adopt)
  }

  tellConnections(listener: ListenerName, count: number): void {
    if (this.#told.get(listener) === count) return
    this.#told.set(listener, count)
    void this.send({ kind: 'connections', listener, count })
  }

  tellAddress(address: string, count: number): void {
    void this.send({ kind: 'address', address, count })
  }

  protected hear(message: ToWorker): void {
    if (message.kind === 'report') void this.#report(message.id)
    else if (message.kind === 'speak') this.#isSpeaker = true
    else this.#onTerminating()
  }

  async #report(id: number): Promise<void> {
    await this.#reports?.report()
    await this.send({ kind: 'reported', id })
  }
}
