import type { StatisticType } from '@portcullis/service-kit/metrics/lines/line-format'
import type { MetricHead } from '@portcullis/service-kit/metrics/prometheus/families'
import { type Labels, reservedLabels } from '@portcullis/service-kit/metrics/prometheus/text'
import type { Tag } from '@portcullis/service-kit/metrics/tags'

/** The name and the labels of a statistic in Prometheus. */
export interface Mapped extends MetricHead {
  readonly labels: Labels
  /** Whether a tag takes precedence over a label with the same name. */
  readonly honorsTags?: boolean
  /** Set for timers. */
  readonly histogram?: HistogramShape
}

interface HistogramShape {
  /** Upper bounds, ascending, without infinity. */
  readonly buckets: readonly number[]
  /** The factor that milliseconds are multiplied by. */
  readonly scale: number
}

/** Maps statistics to names and labels. A statistic that is mapped to undefined is omitted. */
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
  /** By index in `ruleStatistics`: an additional series of a statistic, which appears once it is not 0. */
  readonly besides?: Readonly<Record<number, (key: string) => Mapped>>
}

/** Each statistic of a rule is mapped separately. */
interface SeparateNames {
  readonly kind: 'separate'
  /** In the order of `ruleStatistics`. */
  map(key: string): readonly (Mapped | undefined)[]
}

/** In seconds. */
export const defaultBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Converts text to a valid label name. A name that Prometheus reserves gets a prefix. */
function toLabelName(text: string): string {
  const name = text.replaceAll(/[^a-zA-Z0-9_]/g, '_')
  const isTaken = !/^[a-zA-Z_]/.test(name) || name.startsWith('__')
  return isTaken || reservedLabels.includes(name) ? `tag_${name}` : name
}

export function toTagLabels(tags: readonly Tag[]): Labels {
  return tags.map(([key, value]) => [toLabelName(key), value])
}
