import type { StatisticType } from '../lines/line-format.ts'
import type { Column } from './families.ts'
import type { Labels } from './names.ts'

/** What a statistic is called in Prometheus. */
export interface Mapped extends Column {
  readonly labels: Labels
  /** Whether a tag with the name of a label wins over it. */
  readonly honorsTags?: boolean
  /** For a timer. */
  readonly histogram?: HistogramShape
}

export interface HistogramShape {
  /** Upper bounds, ascending, without infinity. */
  readonly buckets: readonly number[]
  /** What milliseconds are multiplied with. */
  readonly scale: number
}

/** Gives statistics their names and labels. Undefined leaves one out. */
export interface Mapping {
  named(name: string, type: StatisticType): Mapped | undefined
  /** One counter may be shown under several names. */
  unknownDomain(domain: string): readonly Mapped[]
  readonly rules: SharedLabels | SeparateNames
}

/** The statistics of a rule have one set of labels. */
export interface SharedLabels {
  readonly kind: 'shared'
  /** In the order of `ruleStatistics`. */
  readonly columns: readonly Column[]
  toLabels(key: string): Labels
  /** By its place in `ruleStatistics`: a name of its own that a statistic has besides, once it is not 0. */
  readonly besides?: Readonly<Record<number, (key: string) => Mapped>>
}

/** Each statistic of a rule is mapped on its own. */
export interface SeparateNames {
  readonly kind: 'separate'
  /** In the order of `ruleStatistics`. */
  map(key: string): readonly (Mapped | undefined)[]
}

/** In seconds (reference 7.3). */
export const defaultBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
