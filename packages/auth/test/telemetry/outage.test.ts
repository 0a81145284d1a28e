/**
 * @servers postgres
 * @isolated sets OpenTelemetry's process-wide logger
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openFlowServer } from '../support/flow-server.ts'
import { send } from '../support/http-client.ts'
import { until } from '../support/outbox.ts'
import { openSharedPostgres } from '../support/shared-postgres.ts'

test('without a collector requests still succeed, and the loss is logged once', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_TRACING_ENABLED: 'true',
    AUTH_METRICS_ENABLED: 'true',
    // Nothing listens on this port.
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    OTEL_EXPORTER_OTLP_TIMEOUT: '1000',
    OTEL_BSP_SCHEDULE_DELAY: '20',
    OTEL_METRIC_EXPORT_INTERVAL: '50',
  })
  if (!server) return
  const count = (part: string) => server.log.filter((line) => line.includes(part)).length
  await until(async () => {
    assert.equal((await send(server.url, '/settings')).status, 200)
    return count('Spans are lost') > 0 && count('Metrics are lost') > 0
  })
  for (let sent = 0; sent < 50; sent += 1) await send(server.url, '/settings')
  assert.deepEqual([count('Spans are lost'), count('Metrics are lost')], [1, 1])
  assert.match(server.log.join(''), /did not accept them \(.*ECONNREFUSED.*OTEL_EXPORTER_OTLP_/)
})

test('an invalid endpoint stops the start with instructions', async (t) => {
  if (!(await openSharedPostgres(t))) return
  const opened = openFlowServer(t, {
    AUTH_TRACING_ENABLED: 'true',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://',
  })
  await assert.rejects(opened, /Tracing cannot start: .*OTEL_EXPORTER_OTLP_ENDPOINT=http:/)
})
