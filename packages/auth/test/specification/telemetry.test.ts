/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { type AnyVariable, toFaultText } from '@portcullis/service-kit/settings/env'
import { chapters, parseConfig } from '../../src/config/config.ts'
import { testEnvironment } from '../support/auth-server.ts'
import { send } from '../support/http-client.ts'
import { openCollectedServer } from '../telemetry/support/collected-server.ts'
import { parsePage } from '../telemetry/support/prometheus-page.ts'

const all: readonly AnyVariable[] = Object.values(chapters).flatMap(({ variables }) =>
  Object.values(variables),
)
const defaultOf = (name: string) =>
  all.find((variable) => variable.name === `AUTH_${name}`)?.defaultText

/** Valid and invalid values of a variable. */
function assertTakes(name: string, good: readonly string[], bad: readonly string[]): void {
  const faultsOf = (value: string) =>
    parseConfig({ ...testEnvironment, DATABASE_URL: 'postgres://db.example/auth', [name]: value })
      .faults.map(toFaultText)
      .join()
  for (const value of good) assert.equal(faultsOf(value), '')
  for (const value of bad) assert.ok(faultsOf(value).startsWith(`${name}="${value}": `), value)
}

test('traces, and metrics that are pulled', async (t) => {
  const server = await openCollectedServer(t, 'http/protobuf', {
    AUTH_TRACING_ENABLED: 'true',
    AUTH_TRACING_EXPORTER: 'opentelemetry',
    AUTH_METRICS_ENABLED: 'true',
    AUTH_METRICS_EXPORTER: 'pull',
    OTEL_EXPORTER_PULL_HOST: '127.0.0.1',
    OTEL_EXPORTER_PULL_PORT: '0',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=staging',
    DEBUG: 'true',
  })
  if (!server) return
  const { url, collector } = server
  const userId = randomUUID()
  await send(url, `/admin/users/${userId}`, { token: server.serviceToken })
  const span = await collector.untilSpan('GET /admin/users/{user_id}')

  await t.test('Configuration › TRACING_EXPORTER: only `opentelemetry`', () => {
    assert.deepEqual(collector.faults, [])
    assertTakes('AUTH_TRACING_EXPORTER', ['opentelemetry'], ['jaeger', 'zipkin'])
  })

  await t.test(
    'Configuration › tracing: every HTTP call is traced with the parametrized route as `http.route`, `http.method`, `http.route.params.<route-key>`',
    () => {
      assert.equal(span.attributes['http.route'], '/admin/users/{user_id}')
      assert.equal(span.attributes['http.method'], 'GET')
      assert.equal(span.attributes['http.route.params.user_id'], userId)
    },
  )

  await t.test(
    'Configuration › tracing: resource attribute `auth.version` holds the build version; `OTEL_RESOURCE_ATTRIBUTES` adds more',
    () => {
      assert.equal(span.resource['auth.version'], '0.0.0-test')
      assert.equal(span.resource['deployment.environment.name'], 'staging')
    },
  )

  await t.test(
    'Configuration › tracing: `DEBUG=true` gives more output from the telemetry SDK',
    () => {
      assert.ok(server.log.some((line) => / level=info msg="OpenTelemetry: /.test(line)))
    },
  )

  await t.test(
    'Configuration › OTEL_EXPORTER_PULL_HOST / OTEL_EXPORTER_PULL_PORT: defaults 0.0.0.0 and 9100',
    () => {
      assert.equal(defaultOf('OTEL_EXPORTER_PULL_HOST'), '0.0.0.0')
      assert.equal(defaultOf('OTEL_EXPORTER_PULL_PORT'), '9100')
      assertTakes('OTEL_EXPORTER_PULL_PORT', ['9464'], ['70000'])
    },
  )

  await t.test('Configuration › runtime and some HTTP metrics are exported', async () => {
    const [, page = ''] = /Metrics on (http:\/\/127\.0\.0\.1:\d+\/)/.exec(server.log.join('')) ?? []
    const families = parsePage(await (await fetch(page)).text())
    assert.ok(families.has('http_status_codes_total'))
    assert.ok(families.has('http_server_request_duration_seconds'))
    assert.ok(families.has('v8js_memory_heap_used_bytes'))
    assert.ok(families.has('nodejs_eventloop_delay_mean_seconds'))
    assert.deepEqual(collector.points, [])
  })
})

test('metrics that are pushed, without traces', async (t) => {
  const server = await openCollectedServer(t, 'http/protobuf', {
    AUTH_METRICS_ENABLED: 'true',
    AUTH_METRICS_EXPORTER: 'opentelemetry',
  })
  if (!server) return
  const { collector } = server
  await send(server.url, '/settings')

  await t.test(
    'Configuration › METRICS_EXPORTER: `opentelemetry` or a pull-based format',
    async () => {
      await collector.untilPoint('http_status_codes', { 'http.route': '/settings' })
      assertTakes('AUTH_METRICS_EXPORTER', ['opentelemetry', 'prometheus', 'pull'], ['statsd'])
    },
  )

  await t.test('Configuration › METRICS_ENABLED: bool', async () => {
    assertTakes('AUTH_METRICS_ENABLED', ['true', 'false'], ['maybe'])
    assert.equal(defaultOf('METRICS_ENABLED'), 'false')
    assert.ok(!server.log.some((line) => line.includes('Metrics on')))
  })

  await t.test('Configuration › TRACING_ENABLED: bool', () => {
    assertTakes('AUTH_TRACING_ENABLED', ['true', 'false'], ['maybe'])
    assert.equal(defaultOf('TRACING_ENABLED'), 'false')
    assert.deepEqual(collector.spans, [])
  })
})
