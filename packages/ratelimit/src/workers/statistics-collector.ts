import { setTimeout as sleep } from 'node:timers/promises'
import type { WorkerProcess } from '@portcullis/service-kit/workers/worker-process'
import type { FromWorker, ReportMessage, ToWorker } from './messages.ts'
import type { StatisticsSum, WorkerPart } from './statistics-sum.ts'

export type RatelimitWorker = WorkerProcess<ToWorker, FromWorker>

type Reporter = Pick<RatelimitWorker, 'number' | 'startedMs' | 'isReady' | 'isResponsive' | 'send'>

interface Source {
  readonly part: WorkerPart
  /** The requested reports, by id. */
  readonly awaited: Map<number, () => void>
}

/** How long a page or a sink waits for the latest values. */
const refreshMs = 500

/** Adds up the reports of the workers, and chooses the lead worker. */
export class StatisticsCollector {
  readonly #sum: StatisticsSum
  readonly #sources = new Map<Reporter, Source>()
  /** The number of the lead worker. */
  #lead: number | undefined
  #lastId = 0

  constructor(sum: StatisticsSum) {
    this.#sum = sum
  }

  /** Whether a worker that is about to start is the lead worker. */
  startsAsLead(number: number): boolean {
    this.#lead ??= number
    return this.#lead === number
  }

  take(worker: Reporter, message: ReportMessage): void {
    const { part, awaited } = this.#sourceOf(worker)
    if (message.kind === 'reported') awaited.get(message.id)?.()
    else this.#sum.take(part, message)
  }

  /** Removes the worker, and keeps what it has counted. */
  close(worker: Reporter): void {
    const { part, awaited } = this.#sourceOf(worker)
    this.#sources.delete(worker)
    this.#sum.closePart(part)
    for (const resolve of awaited.values()) resolve()
  }

  /** Makes the oldest worker the lead worker if that was lost. */
  replaceLead(lost: Reporter, running: readonly Reporter[]): void {
    if (lost.number !== this.#lead) return
    const [oldest] = [...running].sort((a, b) => a.startedMs - b.startedMs)
    this.#lead = oldest?.number
    if (oldest === undefined) return
    this.#sourceOf(oldest).part.isLead = true
    oldest.send({ kind: 'lead' })
  }

  /** Fetches the latest statistics from all workers, without waiting for one that hangs. */
  async refresh(running: readonly Reporter[]): Promise<void> {
    const reporting = running.filter((worker) => worker.isReady && !this.#owesReport(worker))
    if (reporting.length === 0) return
    const enough = new AbortController()
    const tooLate = sleep(refreshMs, undefined, { signal: enough.signal }).catch(() => undefined)
    await Promise.race([Promise.all(reporting.map((worker) => this.#report(worker))), tooLate])
    enough.abort()
  }

  /** Resolves when the sum includes everything that the worker has counted, or when the worker has ended. */
  async #report(worker: Reporter): Promise<void> {
    const { awaited } = this.#sourceOf(worker)
    const id = ++this.#lastId
    const { promise, resolve } = Promise.withResolvers<void>()
    awaited.set(id, resolve)
    worker.send({ kind: 'report', id })
    await promise
    awaited.delete(id)
  }

  /** Whether an earlier request is unanswered; then it is pointless to wait for another. */
  #owesReport(worker: Reporter): boolean {
    return this.#sourceOf(worker).awaited.size > 0 && !worker.isResponsive
  }

  #sourceOf(worker: Reporter): Source {
    const known = this.#sources.get(worker)
    if (known !== undefined) return known
    const isLead = worker.number === this.#lead
    const source = { part: this.#sum.openPart(isLead), awaited: new Map() }
    this.#sources.set(worker, source)
    return source
  }
}
