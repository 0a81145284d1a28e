import type { Socket } from 'node:net'
import type { Log, LogMessage } from '@portcullis/service-kit/log/log'
import type { Lifecycle } from '@portcullis/service-kit/process/lifecycle'
import { type Channel, PrimaryLink } from '@portcullis/service-kit/workers/primary-link'
import type { ListenerName, Primary, ReportParts } from '../app/primary.ts'
import type { KeyAccess } from '../transports/debug/key-access.ts'
import { answerKeyQuestion } from './key-questions.ts'
import type { FromWorker, KeyQuestion, ToWorker } from './messages.ts'
import { Reports } from './reports.ts'

/** The worker's end of the connection to its primary. */
export class RatelimitLink extends PrimaryLink<ToWorker, FromWorker> implements Primary {
  readonly #log: Log
  #onTerminating: () => void = () => {}
  #reports: Reports | undefined
  #keys: KeyAccess | undefined
  #unloggedError: string | undefined
  #isLead: boolean

  constructor(
    channel: Channel<FromWorker>,
    log: Log,
    { isLead, onStop }: { isLead: boolean; onStop: Lifecycle['stop'] },
  ) {
    super(channel, onStop)
    this.#log = log
    this.#isLead = isLead
  }

  /** The last error that this worker did not log because the lead worker logs it. */
  get unloggedError(): string | undefined {
    return this.#unloggedError
  }

  toSharedLog(log: Log, hasOwn: () => boolean = () => false): Log {
    const isLogging = () => this.#isLead || hasOwn()
    const when = (level: Exclude<keyof Log, 'isEnabled'>) => (message: LogMessage) => {
      if (isLogging()) log[level](message)
      else if (level === 'error')
        this.#unloggedError = typeof message === 'string' ? message : message()
    }
    return {
      fatal: when('fatal'),
      error: when('error'),
      warning: when('warning'),
      info: when('info'),
      debug: when('debug'),
      trace: when('trace'),
      isEnabled: (level) => isLogging() && log.isEnabled(level),
    }
  }

  onTerminating(callback: () => void): void {
    this.#onTerminating = callback
  }

  openReports(parts: ReportParts): AsyncDisposable {
    const send = (message: FromWorker) => this.send(message)
    this.#reports = new Reports({ ...parts, send, log: this.#log })
    return this.#reports
  }

  serveKeys(access: KeyAccess): void {
    this.#keys = access
  }

  receive(listener: ListenerName, adopt: (socket: Socket) => void): void {
    this.serve(listener, adopt)
  }

  protected handleMessage(message: ToWorker): void {
    if (message.kind === 'report') void this.#report(message.id)
    else if (message.kind === 'keys') void this.#answer(message.id, message.question)
    else if (message.kind === 'lead') this.#isLead = true
    else this.#onTerminating()
  }

  async #report(id: number): Promise<void> {
    await this.#reports?.report()
    await this.send({ kind: 'reported', id })
  }

  async #answer(id: number, question: KeyQuestion): Promise<void> {
    await this.send({ kind: 'keys', id, ...(await answerKeyQuestion(this.#keys, question)) })
  }
}
