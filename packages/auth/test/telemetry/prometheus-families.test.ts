import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { createLog } from '@portcullis/service-kit/log/log'
import { renderFamilies } from '@portcullis/service-kit/metrics/prometheus/render'
import { PullReader } from '../../src/telemetry/pull-reader.ts'
import { fixedResource, recordFixedMetrics } from './support/fixed-metrics.ts'

interface Page {
  /** The `# HELP`, `# UNIT` and `# TYPE` lines. */
  readonly comments: readonly string[]
  /** The series with their values, with sorted labels. */
  readonly samples: readonly string[]
}

/** The order of families, series and labels means nothing to Prometheus. */
function toPage(text: string): Page {
  const lines = text.trimEnd().split('\n')
  return {
    comments: lines.filter((line) => line.startsWith('#')).toSorted(),
    samples: lines
      .filter((line) => !line.startsWith('#'))
      .map(sortLabels)
      .toSorted(),
  }
}

function sortLabels(line: string): string {
  const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
  assert.ok(name !== undefined, line)
  const parts = [...labels.matchAll(/\w+="(?:[^"\\]|\\.)*"/g)].map(([part]) => part)
  return `${name}{${parts.toSorted().join()}} ${value}`
}

async function renderPage(reader: PullReader): Promise<string> {
  const chunks: string[] = []
  for await (const chunk of renderFamilies(await reader.collectFamilies())) chunks.push(chunk)
  return chunks.join('')
}

function openReader(): { readonly reader: PullReader; readonly provider: MeterProvider } {
  const write = (line: string) => assert.fail(line)
  const reader = new PullReader(createLog({ level: 'trace', format: 'text', write }))
  return { reader, provider: new MeterProvider({ resource: fixedResource, readers: [reader] }) }
}

test('the page has the names, labels, types, values and help texts of @opentelemetry/exporter-prometheus 0.301', async (t) => {
  const { reader, provider } = openReader()
  t.after(() => provider.shutdown())
  recordFixedMetrics(provider.getMeter('auth', '1.2.3'))
  const expected = readFileSync(join(import.meta.dirname, 'support/fixed-metrics.page.txt'), 'utf8')
  assert.deepEqual(toPage(await renderPage(reader)), toPage(expected))
})

test('each page has the values at the time of the request', async (t) => {
  const { reader, provider } = openReader()
  t.after(() => provider.shutdown())
  const meter = provider.getMeter('auth')
  const counter = meter.createCounter('sign_ins')
  const durations = meter.createHistogram('time', { advice: { explicitBucketBoundaries: [1] } })
  let lag = 5
  meter.createObservableGauge('lag').addCallback((result) => result.observe(lag))
  for (const count of [1, 2]) {
    counter.add(1)
    durations.record(0.5)
    const page = await renderPage(reader)
    assert.match(page, new RegExp(`^sign_ins_total ${count}$`, 'm'))
    assert.match(page, new RegExp(`^time_bucket\\{le="1"\\} ${count}$`, 'm'))
    assert.match(page, new RegExp(`^lag ${lag}$`, 'm'))
    lag = 3
  }
})

test('attributes whose names become the same label, or begin with a digit, leave the page valid', async (t) => {
  const { reader, provider } = openReader()
  t.after(() => provider.shutdown())
  const counter = provider.getMeter('auth').createCounter('sign_ins')
  counter.add(1, { 'a.b': 'first', a_b: 'second', '1st': 'x' })
  assert.match(await renderPage(reader), /^sign_ins_total\{_1st="x",a_b="(?:first|second)"\} 1$/m)
})
