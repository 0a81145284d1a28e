import type { Tag } from '../../tags.ts'

export type Labels = readonly (readonly [name: string, value: string])[]

/** A name that Prometheus allows: dots and other characters become `_`. */
export function toMetricName(text: string): string {
  const name = text.replaceAll(/[^a-zA-Z0-9_:]/g, '_')
  return /^[a-zA-Z_:]/.test(name) ? name : `_${name}`
}

/** A name that a label may have. What Prometheus keeps for itself is told apart. */
export function toLabelName(text: string): string {
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
