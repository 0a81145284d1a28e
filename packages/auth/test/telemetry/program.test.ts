/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { openMigratedEnvironment, runAuth, startAuth } from '../support/auth-program.ts'
import { send } from '../support/http-client.ts'
import { openHttpCollector } from './support/collector.ts'
import { parsePage } from './support/prometheus-page.ts'

const loaded = new URL('./support/print-loaded.ts', import.meta.url).href
const pulled = {
  AUTH_METRICS_ENABLED: 'true',
  AUTH_METRICS_EXPORTER: 'prometheus',
  OTEL_EXPORTER_PULL_HOST: '127.0.0.1',
}

test('pending telemetry is sent on SIGTERM, and only the needed parts of OpenTelemetry are loaded', async (t) => {
  const env = await openMigratedEnvironment(t)
  if (!env) return
  const collector = await openHttpCollector()
  const server = await startAuth(t, ['up'], {
    ...env,
    AUTH_TRACING_ENABLED: 'true',
    AUTH_METRICS_ENABLED: 'true',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    OTEL_SERVICE_NAME: 'sign-in',
    DEBUG: 'true',
    NODE_OPTIONS: `--import ${loaded}`,
  })
  t.after(() => collector.close())
  await send(server.url, '/settings')
  assert.deepEqual([collector.spans, collector.points], [[], []])
  assert.equal(await server.stop('SIGTERM'), 0)
  const { resource } = await collector.untilSpan('GET /settings')
  assert.deepEqual([resource['service.name'], resource['auth.version']], ['sign-in', '0.1.0'])
  const point = await collector.untilPoint('http_status_codes', { 'http.route': '/settings' })
  assert.equal(point.value, 1)
  assert.deepEqual(collector.faults, [])
  assert.match(server.output(), /loaded @opentelemetry\/exporter-trace-otlp-proto/)
  assert.doesNotMatch(server.output(), /loaded @opentelemetry\/exporter-\S+-grpc/)
  // This line is logged because DEBUG is true.
  assert.match(server.output(), /"level":"info","msg":"OpenTelemetry: /)
})

/** Finds this many consecutive free ports. */
async function findPorts(count: number): Promise<number> {
  for (;;) {
    const first = 20_000 + Math.floor(Math.random() * 10_000)
    const servers = Array.from({ length: count }, (_, at) =>
      createServer().listen(first + at, '127.0.0.1'),
    )
    const outcomes = await Promise.allSettled(servers.map((each) => once(each, 'listening')))
    for (const each of servers) each.close()
    if (outcomes.every(({ status }) => status === 'fulfilled')) return first
  }
}

test('each worker has its own metrics page on consecutive ports', async (t) => {
  const env = await openMigratedEnvironment(t)
  if (!env) return
  const first = await findPorts(2)
  const server = await startAuth(t, ['up'], {
    ...env,
    ...pulled,
    AUTH_WORKERS: '2',
    OTEL_EXPORTER_PULL_PORT: `${first}`,
  })
  // New connections go to the worker with the fewest.
  const close = { headers: { connection: 'close' } }
  for (let count = 0; count < 6; count += 1) await send(server.url, '/settings', close)
  const counts = await Promise.all(
    [first, first + 1].map(async (port) => {
      const page = parsePage(await (await fetch(`http://127.0.0.1:${port}/`)).text())
      return page.get('http_status_codes_total')?.samples[0]?.value ?? 0
    }),
  )
  assert.equal(
    counts.reduce((sum, count) => sum + count),
    6,
  )
  assert.equal(await server.stop('SIGTERM'), 0)
})

test('a metrics port that is in use stops the start with instructions', async (t) => {
  const env = await openMigratedEnvironment(t)
  if (!env) return
  const holder = createServer().listen(0, '127.0.0.1')
  t.after(() => holder.close())
  await once(holder, 'listening')
  const address = holder.address()
  assert.ok(typeof address === 'object' && address !== null)
  const { code, stderr } = await runAuth(['up'], {
    env: { ...env, ...pulled, OTEL_EXPORTER_PULL_PORT: `${address.port}` },
  })
  assert.equal(code, 1)
  assert.match(
    stderr,
    /Metrics cannot be served on 127\.0\.0\.1:\d+ \(.*EADDRINUSE.*set AUTH_OTEL_EXPORTER_PULL_PORT/,
  )
})
