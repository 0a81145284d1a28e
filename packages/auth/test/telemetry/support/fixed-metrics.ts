import type { Meter } from '@opentelemetry/api'
import { resourceFromAttributes } from '@opentelemetry/resources'

/** The resource of the metrics that `recordFixedMetrics` records. */
export const fixedResource = resourceFromAttributes({
  'service.name': 'auth',
  'auth.version': '1.2.3',
  'host.note': 'a "quoted" \\ note\nin two lines',
  'process.pid': 7,
  'process.command_args': ['node', 'main.ts'],
})

/** Uses each kind of instrument, unit and attribute value that the server has, and some unusual names. */
export function recordFixedMetrics(meter: Meter): void {
  const statuses = meter.createCounter('http_status_codes', {
    description: 'Responses by status and route',
  })
  statuses.add(3, { code: 200, 'http.route': '/settings' })
  statuses.add(1, { code: 404, 'http.route': '/admin/users/{user_id}' })
  meter.createCounter('auth_email_send_operations_total').add(2, { type: 'a"b\\c\nd' })
  meter
    .createCounter('email_rate_limit_counter', { description: 'Line 1\nline 2 with \\ and "' })
    .add(1)
  const active = meter.createUpDownCounter('http.server.active_requests', {
    description: 'Requests in progress',
    unit: '{request}',
  })
  active.add(5)
  active.add(-7)
  const durations = meter.createHistogram('http.server.request.duration', {
    description: 'Durations of requests',
    unit: 's',
    advice: { explicitBucketBoundaries: [0.005, 0.1, 2.5] },
  })
  for (const seconds of [0.001, 0.005, 0.05, 1, 60]) {
    durations.record(seconds, { 'http.route': '/settings', 'http.request.method': 'GET' })
  }
  durations.record(0.25, { 'http.route': '/token', 'http.request.method': 'POST' })
  meter
    .createHistogram('auth.sizes', { advice: { explicitBucketBoundaries: [1, 1e21] } })
    .record(1e22)
  const observe = (name: string, unit: string, value: number) =>
    meter
      .createObservableGauge(name, { description: `Gauge ${name}`, unit })
      .addCallback((result) => result.observe(value))
  observe('db.client.connection.count', '{connection}', 4)
  observe('v8js.memory.heap.used', 'By', 123_456_789)
  observe('nodejs.eventloop.utilization', '1', 0.1 + 0.2)
  observe('strange..name-with/characters', '', Number.POSITIVE_INFINITY)
  observe('average.of.nothing', '', Number.NaN)
  meter
    .createObservableCounter('process.cpu.time', { description: 'CPU time', unit: 's' })
    .addCallback((result) => {
      result.observe(1.5, { 'cpu.mode': 'user' })
      result.observe(0.25, { 'cpu.mode': 'system' })
    })
  meter.createCounter('auth_unused', { description: 'A counter without a value' })
}
