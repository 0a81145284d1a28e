import { join } from 'node:path'
import { type WorkerEvents, WorkerProcess } from '@portcullis/service-kit/workers/worker-process'
import type { ListenerName } from '../app/primary.ts'
import type { FromWorker, StatisticsMessage, ToWorker, WorkerStart } from './messages.ts'

export interface RatelimitWorkerEvents extends WorkerEvents {
  onStatistics(message: StatisticsMessage): void
}

/** Workers report several times a second, also when there is nothing to say. */
const silentMs = 5_000

const program = join(import.meta.dirname, 'worker-main.ts')

export class RatelimitWorker extends WorkerProcess<ToWorker, FromWorker> {
  readonly #events: RatelimitWorkerEvents
  readonly #reports = new Map<number, () => void>()
  /** As it has told. */
  readonly #connections = new Map<string, number>()
  readonly #addresses = new Map<string, number>()
  #reportId = 0

  constructor(number: number, start: WorkerStart, events: RatelimitWorkerEvents) {
    super({ program, number, start, logFd: 2, events })
    this.#events = events
    void this.ended.then(() => {
      for (const resolve of this.#reports.values()) resolve()
    })
  }

  override get isResponsive(): boolean {
    return super.isResponsive && performance.now() - this.lastHeardMs < silentMs
  }

  countConnections(listener?: ListenerName): number {
    if (listener === undefined) return this.countConnections('grpc') + this.countConnections('http')
    return (this.#connections.get(listener) ?? 0) + this.countUnseen(listener)
  }

  /** gRPC connections of an address, where there is a limit for them. */
  countAddress(address: string): number {
    return this.#addresses.get(address) ?? 0
  }

  /** Resolves when all that it has counted until now is in the sum, or when it is gone. */
  async report(): Promise<void> {
    const id = ++this.#reportId
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#reports.set(id, resolve)
    this.send({ kind: 'report', id })
    await promise
    this.#reports.delete(id)
  }

  /** It may have been asked and not answered; then there is no use in waiting for it again. */
  get owesReport(): boolean {
    return this.#reports.size > 0 && !this.isResponsive
  }

  protected take(message: FromWorker): void {
    if (message.kind === 'connections') this.#connections.set(message.listener, message.count)
    else if (message.kind === 'address') this.#takeAddress(message.address, message.count)
    else if (message.kind === 'reported') this.#reports.get(message.id)?.()
    else this.#events.onStatistics(message)
  }

  #takeAddress(address: string, count: number): void {
    if (count === 0) this.#addresses.delete(address)
    else this.#addresses.set(address, count)
  }
}
