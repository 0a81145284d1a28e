import { join } from 'node:path'
import { createResultWriter } from '@portcullis/bench-kit/results'
import { median, medianRatio, round } from '@portcullis/bench-kit/statistics'
import { isLoadBound } from './goals.ts'
import type { Sample, Series } from './measure.ts'

/** Medians over all rounds, and the sum of errors. */
export interface Score extends Sample {
  readonly group: string
  readonly shape: string
  readonly contender: string
  readonly label: string
  readonly isOurs: boolean
  readonly isLoadBound: boolean
  /** Decisions per CPU-second as a multiple of those of the peer in the same round. */
  readonly timesPeer: number | null
}

export function toScores(all: readonly Series[]): readonly Score[] {
  return all.map(({ group, shape, contender, samples }) => {
    const of = (pick: (sample: Sample) => number, digits: number) =>
      round(median(samples.map(pick)), digits)
    const other = all.find(
      (one) => one.shape === shape && one.contender.name === contender.comparedWith,
    )
    return {
      group: group.name,
      shape: shape.name,
      contender: contender.name,
      label: contender.label,
      isOurs: contender.program === 'ours',
      perCpuSecond: of((sample) => sample.perCpuSecond, 0),
      perSecond: of((sample) => sample.perSecond, 0),
      p50Ms: of((sample) => sample.p50Ms, 2),
      p99Ms: of((sample) => sample.p99Ms, 2),
      p999Ms: of((sample) => sample.p999Ms, 2),
      serverCores: of((sample) => sample.serverCores, 3),
      loadCores: of((sample) => sample.loadCores, 3),
      storeCores: of((sample) => sample.storeCores, 3),
      errors: samples.reduce((sum, { errors }) => sum + errors, 0),
      isLoadBound: shape.pace === 'closed' && isLoadBound(samples),
      timesPeer: other
        ? round(medianRatio(samples.map(perCpuSecond), other.samples.map(perCpuSecond)), 2)
        : null,
    }
  })
}

const perCpuSecond = (sample: Sample) => sample.perCpuSecond

export const writeResult = createResultWriter(join(import.meta.dirname, 'results'))
