/**
 * @servers postgres
 * @isolated sets OpenTelemetry's process-wide logger
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { claimMessages } from '../../src/messages/statements/outbox.ts'
import { password, send } from '../support/http-client.ts'
import { until } from '../support/outbox.ts'
import { openCollectedServer } from './support/collected-server.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'b7ad6b7169203331'

for (const protocol of ['http/protobuf', 'grpc'] as const) {
  test(`requests become spans that are sent over OTLP ${protocol}`, async (t) => {
    const server = await openCollectedServer(t, protocol, {
      AUTH_TRACING_ENABLED: 'true',
      AUTH_API_PATH_PREFIX: '/auth/v1',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20secret',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,auth.version=mine',
    })
    if (!server) return
    const { url, collector, serviceToken: token } = server

    await t.test('with route, method, parameters, status and resource attributes', async () => {
      const userId = randomUUID()
      await send(url, `/admin/users/${userId}?secret=abc`, { token })
      const span = await collector.untilSpan('GET /admin/users/{user_id}')
      assert.deepEqual(span.attributes, {
        'http.method': 'GET',
        'http.route': '/admin/users/{user_id}',
        'http.route.params.user_id': userId,
        'http.status_code': 404,
        'error.type': 'user_not_found',
      })
      assert.deepEqual([span.kind, span.statusCode, span.parentSpanId], [2, 0, ''])
      const { resource } = span
      assert.equal(resource['auth.version'], '0.0.0-test')
      assert.equal(resource['service.name'], 'auth')
      assert.equal(resource['deployment.environment.name'], 'test')
      assert.ok(collector.headers('authorization').every((value) => value === 'Bearer secret'))
    })

    await t.test(
      'for every kind of path: with a prefix, with a trailing slash, unknown, malformed',
      async () => {
        const routesOf = async (path: string, method = 'GET') => {
          const before = collector.spans.length
          await send(url, path, { method })
          await until(() => collector.spans.length > before)
          return collector.spans
            .slice(before)
            .map(({ name, attributes }) => [
              name,
              attributes['http.route'],
              attributes['http.status_code'],
            ])
        }
        assert.deepEqual(await routesOf('/settings/'), [['GET /settings', '/settings', 200]])
        assert.deepEqual(await routesOf('/auth/v1/settings'), [['GET /settings', '/settings', 200]])
        assert.deepEqual(await routesOf('/nowhere/42'), [['GET noroute', 'noroute', 404]])
        assert.deepEqual(await routesOf('/%zz'), [['GET noroute', 'noroute', 404]])
        assert.deepEqual(await routesOf('/user', 'PATCH'), [['PATCH /user', '/user', 405]])
      },
    )

    await t.test('as part of the trace of the client, with statements as child spans', async () => {
      const { email } = await server.newUser()
      const { status } = await server.post(
        '/token?grant_type=password',
        { email, password },
        { traceparent: `00-${traceId}-${spanId}-01` },
      )
      assert.equal(status, 200)
      const span = await collector.untilSpan('POST /token')
      assert.deepEqual([span.traceId, span.parentSpanId], [traceId, spanId])
      const below = collector.spans.filter(({ parentSpanId }) => parentSpanId === span.spanId)
      assert.ok(below.length >= 2 && below.length <= 3, `${below.length} statements`)
      for (const statement of below) {
        assert.equal(statement.traceId, traceId)
        assert.equal(statement.kind, 3)
        assert.deepEqual(statement.attributes, { 'db.system.name': 'postgresql' })
      }
      assert.ok(server.log.some((line) => line.includes(`trace_id=${traceId}`)))
    })

    await t.test('unless the client did not sample the trace', async () => {
      await send(url, '/health', { headers: { traceparent: `00-${traceId}-${spanId}-00` } })
      await send(url, '/settings?last')
      await collector.untilSpan('GET /settings')
      assert.ok(!collector.spans.some(({ name }) => name === 'GET /health'))
    })

    await t.test('a server error is marked as such, without its message', async () => {
      await server.query('alter table users rename to users_away')
      await send(url, '/magiclink', { body: { email: 'unknown@example.com' } })
      await server.query('alter table users_away rename to users')
      const span = await collector.untilSpan('POST /magiclink')
      assert.deepEqual([span.statusCode, span.statusMessage], [2, ''])
      const failed = collector.spans.find(({ parentSpanId }) => parentSpanId === span.spanId)
      assert.equal(failed?.attributes['db.response.status_code'], '42P01')
      assert.deepEqual([failed?.statusCode, failed?.statusMessage], [2, ''])
    })

    assert.deepEqual(collector.faults, [])
    // Sending the messages is not part of the request.
    assert.ok(!collector.spans.some(({ name }) => name === claimMessages.name))
  })
}

test('OTEL_TRACES_SAMPLER decides if the client sends no trace', async (t) => {
  const server = await openCollectedServer(t, 'http/protobuf', {
    AUTH_TRACING_ENABLED: 'true',
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0',
  })
  if (!server) return
  const { collector } = server
  await send(server.url, '/settings')
  await send(server.url, '/health', { headers: { traceparent: `00-${traceId}-${spanId}-01` } })
  await collector.untilSpan('GET /health')
  assert.deepEqual(
    collector.spans.map(({ name }) => name),
    ['GET /health'],
  )
})
