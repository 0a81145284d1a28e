export type Labels = readonly (readonly [name: string, value: string])[]

/** Labels that Prometheus itself gives to the buckets of a histogram and the quantiles of a summary. */
export const reservedLabels: readonly string[] = ['le', 'quantile']

/** A name that Prometheus allows: dots and other characters become `_`. */
export function toMetricName(text: string): string {
  const name = text.replaceAll(/[^a-zA-Z0-9_:]/g, '_')
  return /^[a-zA-Z_:]/.test(name) ? name : `_${name}`
}

/** `{domain="a",key1="b"}`, sorted by name; an empty text if there are no labels. */
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

/** For the text of a `# HELP` or `# UNIT` line, in which quotation marks stay as they are. */
export function escapeComment(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

export function toValueText(value: number): string {
  if (Number.isFinite(value)) return String(value)
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
}
