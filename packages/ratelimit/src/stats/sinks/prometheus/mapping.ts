import type { StatisticType } from '@portcullis/service-kit/metrics/lines/line-format'
import type { MetricHead } from '@portcullis/service-kit/metrics/prometheus/families'
import { type Labels, reservedLabels } from '@portcullis/service-kit/metrics/prometheus/text'
import type { Tag } from '@portcullis/service-kit/metrics/tags'

/** What a statistic is called in Prometheus. */
export interface Mapped extends MetricHead {
  readonly labels: Labels
  /** Whether a tag with the name of a label wins over it. */
  readonly honorsTags?: boolean
  /** For a timer. */
  readonly histogram?: HistogramShape
}

interface HistogramShape {
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
  readonly columns: readonly MetricHead[]
  toLabels(key: string): Labels
  /** By its place in `ruleStatistics`: a name of its own that a statistic has besides, once it is not 0. */
  readonly besides?: Readonly<Record<number, (key: string) => Mapped>>
}

/** Each statistic of a rule is mapped on its own. */
interface SeparateNames {
  readonly kind: 'separate'
  /** In the order of `ruleStatistics`. */
  map(key: string): readonly (Mapped | undefined)[]
}

/** In seconds. */
export const defaultBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** A name that Prometheus allows for a label. A name that it reserves gets a prefix. */
function toLabelName(text: string): string {
  const name = text.replaceAll(/[^a-zA-Z0-9_]/g, '_')
  const isTaken = !/^[a-zA-Z_]/.test(name) || name.startsWith('__')
  return isTaken || reservedLabels.includes(name) ? `tag_${name}` : name
}

export function toTagLabels(tags: readonly Tag[]): Labels {
  return tags.map(([key, value]) => [toLabelName(key), value])
}
