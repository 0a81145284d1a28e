import type { Tag } from '../../tags.ts'
import type { StatisticType } from '../lines/line-format.ts'

export interface Column {
  readonly name: string
  readonly help: string
}

/** What a statistic is called in Prometheus. */
export interface Mapped extends Column {
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
  readonly columns: readonly Column[]
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

/** In seconds (reference 7.3). */
export const defaultBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export type Labels = readonly (readonly [name: string, value: string])[]

/** A name that Prometheus allows: dots and other characters become `_`. */
export function toMetricName(text: string): string {
  const name = text.replaceAll(/[^a-zA-Z0-9_:]/g, '_')
  return /^[a-zA-Z_:]/.test(name) ? name : `_${name}`
}

/** A name that a label may have. What Prometheus keeps for itself is told apart. */
function toLabelName(text: string): string {
  const name = text.replaceAll(/[^a-zA-Z0-9_]/g, '_')
  const isTaken = !/^[a-zA-Z_]/.test(name) || name.startsWith('__')
  return isTaken || ownLabels.includes(name) ? `tag_${name}` : name
}

/** Of the buckets of a histogram and the quantiles of a summary. */
export const ownLabels = ['le', 'quantile']

export function toTagLabels(tags: readonly Tag[]): Labels {
  return tags.map(([key, value]) => [toLabelName(key), value])
}

/** `{domain="a",key1="b"}`, sorted by name; nothing when there are none. */
export function toLabelText(labels: Labels): string {
  if (labels.length === 0) return ''
  const sorted = [...labels].sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${sorted.map(([name, value]) => `${name}="${escapeValue(value)}"`).join()}}`
}

function escapeValue(value: string): string {
  return /[\\"\n]/.test(value)
    ? value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
    : value
}

export function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

export function toValueText(value: number): string {
  if (Number.isFinite(value)) return String(value)
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
}
