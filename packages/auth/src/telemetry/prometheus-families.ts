import type { Attributes } from '@opentelemetry/api'
import {
  DataPointType,
  type HistogramMetricData,
  type MetricData,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics'
import type { Log } from '@portcullis/service-kit/log/log'
import { Families, type MetricHead } from '@portcullis/service-kit/metrics/prometheus/families'

type Values = readonly { readonly attributes: Attributes; readonly value: number }[]

/** Converts collected metrics to names and labels that Prometheus allows. */
export function toFamilies({ resource, scopeMetrics }: ResourceMetrics, log: Log): Families {
  const families = new Families([], log)
  const target = { name: 'target_info', help: 'Target metadata' }
  addValues(families, 'gauge', target, [{ attributes: resource.attributes, value: 1 }])
  for (const { metrics } of scopeMetrics) for (const metric of metrics) addMetric(families, metric)
  return families
}

function addMetric(families: Families, metric: MetricData): void {
  const { description, unit } = metric.descriptor
  const help = description || 'description missing'
  const head = { name: toMetricName(metric), help, unit: unit || undefined }
  if (metric.dataPointType === DataPointType.HISTOGRAM) {
    addHistograms(families, head, metric.dataPoints)
  } else if (metric.dataPointType === DataPointType.SUM) {
    addValues(families, metric.isMonotonic ? 'counter' : 'gauge', head, metric.dataPoints)
  } else if (metric.dataPointType === DataPointType.GAUGE) {
    addValues(families, 'gauge', head, metric.dataPoints)
  }
}

function addValues(
  families: Families,
  type: 'counter' | 'gauge',
  head: MetricHead,
  points: Values,
): void {
  const table = families.table(type, head)
  for (const { attributes, value } of points) {
    const row = table?.row(toLabels(families, attributes)).show()
    if (row !== undefined) row.values[0] = value
  }
}

function addHistograms(
  families: Families,
  head: MetricHead,
  points: HistogramMetricData['dataPoints'],
): void {
  for (const { attributes, value } of points) {
    const { boundaries, counts } = value.buckets
    const histogram = families.histogram(head, toLabels(families, attributes), boundaries)
    if (histogram === undefined) continue
    histogram.counts.set(counts)
    histogram.sum = value.sum ?? 0
  }
}

const unitSuffixes: Readonly<Record<string, string>> = {
  s: '_seconds',
  By: '_bytes',
  '1': '_ratio',
}

/**
 * Names that are reserved in Prometheus: `_count` is a part of histograms, and a name must not
 * contain the type. OTLP uses the names of the semantic conventions and of Supabase Auth.
 */
const otherNames: Readonly<Record<string, string>> = {
  'db.client.connection.count': 'db.client.connections',
  email_rate_limit_counter: 'email_rate_limit',
}

/** In Prometheus, the unit is part of the name, and the name of a counter ends in `_total`. */
function toMetricName(metric: MetricData): string {
  const { name, unit } = metric.descriptor
  const full = toName(`${otherNames[name] ?? name}${unitSuffixes[unit] ?? ''}`)
  const isCounter = metric.dataPointType === DataPointType.SUM && metric.isMonotonic
  return isCounter && !full.endsWith('_total') ? `${full}_total` : full
}

function toLabels(families: Families, attributes: Attributes): string {
  const labels = new Map<string, string>()
  for (const [key, value = ''] of Object.entries(attributes)) {
    labels.set(toName(key), typeof value === 'string' ? value : JSON.stringify(value))
  }
  return families.toLabelText([...labels])
}

/** Replaces each run of characters that Prometheus does not allow by one `_`. */
function toName(text: string): string {
  const name = text.replaceAll(/[^a-zA-Z0-9_]/g, '_').replaceAll(/_{2,}/g, '_')
  return /^\d/.test(name) ? `_${name}` : name
}
