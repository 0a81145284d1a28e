import { join } from 'node:path'
import { type WorkerEvents, WorkerProcess } from '@portcullis/service-kit/workers/worker-process'
import {
  type Admitted,
  type AdmittedMessage,
  type FromWorker,
  listener,
  type WorkerStart,
} from './messages.ts'

export interface AuthWorkerEvents extends WorkerEvents {
  /** It let requests pass. */
  onAdmitted(counts: readonly Admitted[]): void
  onWarning(topic: string, message: string): void
}

const program = join(import.meta.dirname, 'worker-main.ts')

export class AuthWorker extends WorkerProcess<AdmittedMessage, FromWorker> {
  readonly #events: AuthWorkerEvents
  #closedCount = 0

  constructor(start: WorkerStart, logFd: number, events: AuthWorkerEvents) {
    super({ program, number: start.number, start, logFd, events })
    this.#events = events
  }

  countConnections(): number {
    return this.countUnseen(listener) + this.adoptedCount - this.#closedCount
  }

  protected take(message: FromWorker): void {
    if (message.kind === 'closed') this.#closedCount += 1
    else if (message.kind === 'warning') this.#events.onWarning(message.topic, message.message)
    else this.#events.onAdmitted(message.counts)
  }
}
