/**
 * @servers postgres
 * @isolated sets OpenTelemetry's process-wide logger
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { test } from 'node:test'
import { openFlowServer } from '../support/flow-server.ts'
import { ask, newEmail, password } from '../support/http-client.ts'
import { until } from '../support/outbox.ts'
import { openCollectedServer } from './support/collected-server.ts'
import { type Family, parsePage } from './support/prometheus-page.ts'

const pulled = {
  AUTH_METRICS_ENABLED: 'true',
  AUTH_METRICS_EXPORTER: 'prometheus',
  OTEL_EXPORTER_PULL_HOST: '127.0.0.1',
  OTEL_EXPORTER_PULL_PORT: '0',
}

function sumOf(family: Family | undefined, labels: object = {}): number {
  const samples = family?.samples.filter((sample) =>
    Object.entries(labels).every(([name, value]) => sample.labels[name] === value),
  )
  return (samples ?? []).reduce((sum, { value }) => sum + value, 0)
}

test('metrics are a page that can be pulled', async (t) => {
  const server = await openFlowServer(t, { ...pulled, AUTH_RATE_LIMIT_EMAIL_SENT: '1' })
  if (!server) return
  const { url } = server
  const [, page = ''] = /Metrics on (http:\/\/127\.0\.0\.1:\d+\/)/.exec(server.log.join('')) ?? []
  const pull = async () => parsePage(await (await fetch(page)).text())

  await t.test('in the format of Prometheus, at / and nowhere else', async () => {
    const { status, headers } = await fetch(page)
    assert.equal(status, 200)
    assert.equal(headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
    assert.equal((await fetch(`${page}metrics`)).status, 404)
    assert.equal((await fetch(page, { method: 'POST' })).status, 405)
    const head = await fetch(page, { method: 'HEAD' })
    assert.deepEqual([head.status, await head.text()], [200, ''])
  })

  await t.test(
    'with every answer by status and route, never by path or by what callers say',
    async () => {
      await ask(url, '/settings', { headers: { 'user-agent': 'robot-7' } })
      const ids = Array.from({ length: 5 }, () => randomUUID())
      for (const id of ids) await ask(url, `/admin/users/${id}`, { token: server.serviceToken })
      for (const id of ids) await ask(url, `/nowhere/${id}`)
      await new Promise((done) => request(`${url}/settings`, { method: 'PROPFIND' }, done).end())
      const families = await pull()
      const codes = families.get('http_status_codes_total')
      assert.equal(codes?.type, 'counter')
      assert.equal(sumOf(codes, { http_route: '/settings', code: '200' }), 1)
      assert.equal(sumOf(codes, { http_route: '/admin/users/{user_id}', code: '404' }), 5)
      assert.equal(sumOf(codes, { http_route: 'noroute', code: '404' }), 6)
      const durations = families.get('http_server_request_duration_seconds')
      assert.equal(durations?.type, 'histogram')
      const counted = durations?.samples.find(
        ({ name, labels }) => name.endsWith('_count') && labels['http_route'] === '/settings',
      )
      assert.deepEqual(counted?.labels, { http_route: '/settings', http_request_method: 'GET' })
      assert.equal(counted?.value, 1)
      const text = await (await fetch(page)).text()
      assert.match(text, /http_request_method="_OTHER"/)
      for (const made of [...ids, 'robot-7', 'PROPFIND']) assert.ok(!text.includes(made), made)
    },
  )

  await t.test('with the runtime, the connections to PostgreSQL and the version', async () => {
    const families = await pull()
    for (const name of [
      'nodejs_eventloop_delay_p99_seconds',
      'nodejs_eventloop_utilization_ratio',
      'v8js_memory_heap_used_bytes',
      'v8js_memory_heap_limit_bytes',
      'process_memory_usage_bytes',
      'process_cpu_time_seconds_total',
      'db_client_connection_count',
      'db_client_connection_pending_requests',
      'auth_running',
      'auth_version_major',
      'http_server_active_requests',
    ]) {
      assert.ok(families.has(name), `${name} of ${[...families.keys()]}`)
    }
    assert.equal(sumOf(families.get('auth_running')), 1)
    assert.ok(sumOf(families.get('db_client_connection_count')) >= 1)
    assert.ok(sumOf(families.get('v8js_memory_heap_used_bytes')) > 1e6)
    assert.equal(families.get('target_info')?.samples[0]?.labels['auth_version'], '0.0.0-test')
  })

  await t.test('with passwords, messages and the limit of email', async () => {
    const email = newEmail()
    await server.post('/signup', { email, password })
    await server.post('/token?grant_type=password', { email, password: 'wrong password' })
    const refused = await server.post('/signup', { email: newEmail(), password })
    assert.equal(refused.body.error_code, 'over_email_send_rate_limit')
    // Nothing listens where the mail should go.
    await until(async () => sumOf((await pull()).get('auth_email_send_errors_total')) > 0)
    const families = await pull()
    for (const [name, least] of [
      ['auth_hash_password_submitted_total', 2],
      ['auth_hash_password_completed_total', 2],
      ['auth_compare_hash_and_password_submitted_total', 1],
      ['auth_compare_hash_and_password_completed_total', 1],
      ['email_rate_limit_counter_total', 1],
    ] as const) {
      assert.ok(sumOf(families.get(name)) >= least, name)
    }
    const labels = { type: 'confirmation' }
    assert.equal(sumOf(families.get('auth_email_send_operations_total'), labels), 1)
    assert.equal(sumOf(families.get('auth_email_send_errors_total'), labels), 1)
  })
})

for (const protocol of ['http/protobuf', 'grpc'] as const) {
  test(`metrics are pushed over OTLP ${protocol}`, async (t) => {
    const server = await openCollectedServer(t, protocol, {
      AUTH_METRICS_ENABLED: 'true',
      // The other one is for spans alone.
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol === 'grpc' ? 'http/protobuf' : 'grpc',
    })
    if (!server) return
    const { collector } = server
    await ask(server.url, '/settings')
    const point = await collector.untilPoint('http_status_codes', { 'http.route': '/settings' })
    assert.deepEqual(
      [point.kind, point.attributes, point.value],
      ['sum', { code: 200, 'http.route': '/settings' }, 1],
    )
    assert.equal(point.resource['auth.version'], '0.0.0-test')
    const duration = await collector.untilPoint('http.server.request.duration', {
      'http.route': '/settings',
    })
    assert.deepEqual([duration.kind, duration.unit, duration.value], ['histogram', 's', 1])
    await collector.untilPoint('nodejs.eventloop.delay.p99')
    assert.deepEqual(collector.faults, [])
    assert.deepEqual(collector.spans, [])
  })
}
