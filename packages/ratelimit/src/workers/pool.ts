import { setTimeout as sleep } from 'node:timers/promises'
import { Pool, type PoolSettings } from '@portcullis/service-kit/workers/pool'
import type { Config } from '../config.ts'
import type { StatisticsSum, WorkerPart } from './statistics-sum.ts'
import { RatelimitWorker } from './worker-process.ts'

export interface RatelimitPoolSettings
  extends Pick<PoolSettings<RatelimitWorker>, 'log' | 'onHopeless'> {
  readonly config: Config
  readonly sum: StatisticsSum
}

/** Workers whose statistics are added up, and one of whom speaks for all. */
export function openPool(settings: RatelimitPoolSettings): Pool<RatelimitWorker> {
  const { config, sum, log, onHopeless } = settings
  /** What each has told about statistics. */
  const parts = new Map<RatelimitWorker, WorkerPart>()
  let speaker: RatelimitWorker | undefined
  return new Pool({
    size: config.workers,
    log,
    onHopeless,
    start(number, events) {
      const isSpeaker = speaker === undefined
      const part = sum.openPart(isSpeaker)
      const worker = new RatelimitWorker(
        number,
        { config, isSpeaker },
        {
          ...events,
          onStatistics: (message) => sum.take(part, message),
        },
      )
      parts.set(worker, part)
      if (isSpeaker) speaker = worker
      void worker.ended.then(() => {
        parts.delete(worker)
        sum.closePart(part)
      })
      return worker
    },
    onLost(worker) {
      if (worker === speaker) speaker = appointSpeaker(parts)
    },
  })
}

/** The one that is there longest knows the rules best. */
function appointSpeaker(
  parts: ReadonlyMap<RatelimitWorker, WorkerPart>,
): RatelimitWorker | undefined {
  const [oldest] = [...parts].sort(([a], [b]) => a.startedMs - b.startedMs)
  if (oldest === undefined) return undefined
  const [worker, part] = oldest
  part.isSpeaker = true
  worker.send({ kind: 'speak' })
  return worker
}

/** How long a page or a sink waits for the latest numbers. */
const refreshMs = 500

/** Fetches what is new from all workers; one that hangs is not waited for. */
export async function refresh(workers: readonly RatelimitWorker[]): Promise<void> {
  const asked = workers.filter(({ isReady, owesReport }) => isReady && !owesReport)
  if (asked.length === 0) return
  const enough = new AbortController()
  const tooLate = sleep(refreshMs, undefined, { signal: enough.signal }).catch(() => undefined)
  await Promise.race([Promise.all(asked.map((worker) => worker.report())), tooLate])
  enough.abort()
}
