import { join } from 'node:path'
import { createResultWriter } from '@portcullis/bench-kit/results'
import { median, medianRatio, round } from '@portcullis/bench-kit/statistics'
import type { Sample, Series } from './measure.ts'

/** Medians over all rounds; errors are summed up. */
export interface Score extends Omit<Sample, 'calls' | 'probeP99Ms' | 'firstError'> {
  readonly case: string
  readonly title: string
  readonly label: string
  readonly isOurs: boolean
  readonly firstError: string | null
  /** The median ratio to the requests per second of the peer, by round. */
  readonly timesPeer: number | null
}

export function toScores(all: readonly Series[]): readonly Score[] {
  return all.map(({ case: one, contestant, label, samples }) => {
    const of = (pick: (sample: Sample) => number, digits: number) =>
      round(median(samples.map(pick)), digits)
    const peer = all.find((other) => other.case === one && other.contestant === 'peer')
    const isOurs = contestant !== 'peer'
    return {
      case: one.name,
      title: one.title,
      label,
      isOurs,
      perSecond: of((sample) => sample.perSecond, 1),
      perCpuSecond: of((sample) => sample.perCpuSecond, 1),
      p50Ms: of((sample) => sample.p50Ms, 2),
      p99Ms: of((sample) => sample.p99Ms, 2),
      databaseMicroseconds: of((sample) => sample.databaseMicroseconds, 0),
      serverCores: of((sample) => sample.serverCores, 3),
      loadCores: of((sample) => sample.loadCores, 3),
      errors: samples.reduce((sum, { errors }) => sum + errors, 0),
      firstError: samples.find(({ firstError }) => firstError !== undefined)?.firstError ?? null,
      timesPeer:
        isOurs && peer
          ? round(medianRatio(samples.map(perSecond), peer.samples.map(perSecond)), 2)
          : null,
    }
  })
}

const perSecond = (sample: Sample) => sample.perSecond

export const writeResult = createResultWriter(join(import.meta.dirname, 'results'))
