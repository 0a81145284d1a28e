/**
 * @servers postgres
 * @isolated sets OpenTelemetry's process-wide logger
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { provideOrSkip } from '@portcullis/test-servers'
import { openFlowServer } from '../support/flow-server.ts'
import { newEmail, password, send } from '../support/http-client.ts'
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

test('metrics can be pulled from a page', async (t) => {
  const server = await openFlowServer(t, { ...pulled, AUTH_RATE_LIMIT_EMAIL_SENT: '1' })
  if (!server) return
  const { url } = server
  const [, page = ''] = /Metrics on (http:\/\/127\.0\.0\.1:\d+\/)/.exec(server.log.join('')) ?? []
  const pull = async () => parsePage(await (await fetch(page)).text())

  await t.test('in the Prometheus format, at / and /metrics only', async () => {
    for (const path of ['', 'metrics']) {
      const { status, headers } = await fetch(`${page}${path}`)
      assert.equal(status, 200)
      assert.equal(headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
      assert.equal((await fetch(`${page}${path}`, { method: 'POST' })).status, 405)
    }
    assert.equal((await fetch(`${page}other`)).status, 404)
    const head = await fetch(page, { method: 'HEAD' })
    assert.deepEqual([head.status, await head.text()], [200, ''])
  })

  await t.test(
    'with every response by status and route, never by path or client data',
    async () => {
      await send(url, '/settings', { headers: { 'user-agent': 'robot-7' } })
      const ids = Array.from({ length: 5 }, () => randomUUID())
      for (const id of ids) await send(url, `/admin/users/${id}`, { token: server.serviceToken })
      for (const id of ids) await send(url, `/nowhere/${id}`)
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

  await t.test('with the runtime, the PostgreSQL connections and the version', async () => {
    const families = await pull()
    for (const name of [
      'nodejs_eventloop_delay_p99_seconds',
      'nodejs_eventloop_utilization_ratio',
      'v8js_memory_heap_used_bytes',
      'v8js_memory_heap_limit_bytes',
      'process_memory_usage_bytes',
      'process_cpu_time_seconds_total',
      'db_client_connections',
      'db_client_connection_max',
      'auth_hash_queue_waiting',
      'auth_hash_queue_running',
      'db_client_connection_pending_requests',
      'auth_running',
      'auth_version_major',
      'http_server_active_requests',
    ]) {
      assert.ok(families.has(name), `${name} of ${[...families.keys()]}`)
    }
    assert.equal(sumOf(families.get('auth_running')), 1)
    assert.ok(sumOf(families.get('db_client_connections')) >= 1)
    assert.ok(sumOf(families.get('v8js_memory_heap_used_bytes')) > 1e6)
    assert.equal(families.get('target_info')?.samples[0]?.labels['auth_version'], '0.0.0-test')
  })

  await t.test('with passwords, messages and the email limit', async () => {
    const email = newEmail()
    await server.post('/signup', { email, password })
    await server.post('/token?grant_type=password', { email, password: 'wrong password' })
    const refused = await server.post('/signup', { email: newEmail(), password })
    assert.equal(refused.body.error_code, 'over_email_send_rate_limit')
    // Nothing listens on the port of the mail server.
    await until(async () => sumOf((await pull()).get('auth_email_send_errors_total')) > 0)
    const families = await pull()
    for (const [name, least] of [
      ['auth_hash_password_submitted_total', 2],
      ['auth_hash_password_completed_total', 2],
      ['auth_compare_hash_and_password_submitted_total', 1],
      ['auth_compare_hash_and_password_completed_total', 1],
      ['email_rate_limit_total', 1],
    ] as const) {
      assert.ok(sumOf(families.get(name)) >= least, name)
    }
    const labels = { type: 'confirmation' }
    assert.equal(sumOf(families.get('auth_email_send_operations_total'), labels), 1)
    assert.equal(sumOf(families.get('auth_email_send_errors_total'), labels), 1)
  })
})

test('metrics cover the outbox, cleanup and statements, with valid Prometheus names', async (t) => {
  const server = await openFlowServer(t, {
    ...pulled,
    AUTH_DB_MAX_POOL_SIZE: '1',
    // Nothing listens there, and the code in the message expires before the second attempt.
    AUTH_MAILER_OTP_EXP: '1',
  })
  if (!server) return
  const [, page = ''] = /Metrics on (http:\/\/127\.0\.0\.1:\d+\/)/.exec(server.log.join('')) ?? []
  const pull = async () => parsePage(await (await fetch(`${page}metrics`)).text())
  const valueOf = async (name: string, labels = {}) => sumOf((await pull()).get(name), labels)

  await t.test('waiting messages and given-up ones', async () => {
    await server.query(
      `insert into outbox (channel, kind, recipient, payload, expires_at, next_attempt_at, created_at)
       values ('email', 'invite', 'a@example.com', '{}', now() + interval '1 day',
         now() + interval '1 hour', now() - interval '2 hours')`,
    )
    await server.post('/signup', { email: newEmail(), password })
    const givenUp = { channel: 'email', type: 'confirmation' }
    await until(async () => (await valueOf('auth_messages_given_up_total', givenUp)) === 1)
    await until(async () => (await valueOf('auth_outbox_messages', { state: 'given_up' })) === 1)
    assert.equal(await valueOf('auth_outbox_messages', { state: 'waiting' }), 1)
    assert.ok((await valueOf('auth_outbox_oldest_age_seconds')) >= 7_200)
    assert.equal(await valueOf('auth_outbox_overdue_seconds'), 0)
  })

  await t.test('the duration of statements and their wait for a connection', async () => {
    const families = await pull()
    const durations = families.get('db_client_operation_duration_seconds')
    assert.equal(durations?.type, 'histogram')
    const counted = durations?.samples.find(
      ({ name, labels }) =>
        name.endsWith('_count') && labels['db_operation_name'] === 'find_user_by_email',
    )
    assert.deepEqual(counted?.labels, {
      db_operation_name: 'find_user_by_email',
      outcome: 'completed',
    })
    assert.ok(families.has('db_client_connection_wait_time_seconds'))
    assert.equal(sumOf(families.get('db_client_connection_max')), 1)
  })

  await t.test('promtool reports no problems', async (t) => {
    const promtool = await provideOrSkip(t, 'promtool')
    if (promtool === undefined) return
    const { stdout, stderr } = await runWithInput(
      promtool,
      ['check', 'metrics'],
      await (await fetch(`${page}metrics`)).text(),
    )
    assert.equal(`${stdout}${stderr}`, '')
  })
})

/** Runs a program and returns its combined output. */
async function runWithInput(program: string, args: readonly string[], input: string) {
  const child = spawn(program, args)
  child.stdin.end(input)
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { stdout, stderr }
}

for (const protocol of ['http/protobuf', 'grpc'] as const) {
  test(`metrics are pushed over OTLP ${protocol}`, async (t) => {
    const server = await openCollectedServer(t, protocol, {
      AUTH_METRICS_ENABLED: 'true',
      // The other protocol is only for spans.
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol === 'grpc' ? 'http/protobuf' : 'grpc',
    })
    if (!server) return
    const { collector } = server
    await send(server.url, '/settings')
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
