import assert from 'node:assert/strict'
import { test } from 'node:test'
import { status } from '@portcullis/grpc-unary'
import { decisionPath, openDecisionClient, postJson } from '../support/service-client.ts'
import { openGrpcCollector, openHttpCollector } from './support/collector.ts'
import { openTraced } from './support/traced-app.ts'
import {
  createRequest,
  serverSpan,
  spanId,
  startTraced,
  traceId,
} from './support/traced-service.ts'

for (const [protocol, openCollector] of [
  ['http', openHttpCollector],
  ['grpc', openGrpcCollector],
] as const) {
  test(`a decision has two spans, sent over OTLP/${protocol}`, async (t) => {
    const collector = await openCollector(t)
    const service = await startTraced(t, collector, {
      TRACING_EXPORTER_PROTOCOL: protocol,
      TRACING_SERVICE_NAMESPACE: 'edge',
      TRACING_SERVICE_INSTANCE_ID: 'instance-7',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20secret',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.name=overruled',
    })
    const client = await openDecisionClient(t, service)
    await client.decide({ ...createRequest('ann', 'user'), hitsAddend: 2 })

    const [server] = await collector.untilSpans(serverSpan)
    const [decision] = await collector.untilSpans('ShouldRateLimit Execution')
    assert.ok(server && decision)
    assert.deepEqual(server.attributes, {
      'rpc.system': 'grpc',
      'rpc.service': 'envoy.service.ratelimit.v3.RateLimitService',
      'rpc.method': 'ShouldRateLimit',
      'rpc.grpc.status_code': 0,
    })
    assert.deepEqual([server.kind, server.statusCode, server.parentSpanId], [2, 0, ''])
    assert.deepEqual(decision.attributes, {
      domain: 'shop',
      'request string':
        'domain:"shop" descriptors:{entries:{key:"user" value:"ann"}} hits_addend:2',
    })
    assert.deepEqual([decision.kind, decision.statusCode], [1, 0])
    assert.equal(decision.traceId, server.traceId)
    assert.equal(decision.parentSpanId, server.spanId)
    assert.ok(server.startNs <= decision.startNs && decision.endNs <= server.endNs)

    assert.equal(collector.spans.length, 2, 'the memory store has no span')
    const { 'telemetry.sdk.version': version, ...resource } = server.resource
    assert.match(String(version), /^\d+\.\d+/)
    assert.deepEqual(resource, {
      'service.name': 'RateLimit',
      'service.namespace': 'edge',
      'service.instance.id': 'instance-7',
      'deployment.environment.name': 'test',
      'telemetry.sdk.language': 'nodejs',
      'telemetry.sdk.name': 'opentelemetry',
    })
    assert.deepEqual(new Set(collector.headers('authorization')), new Set(['Bearer secret']))
    assert.deepEqual(collector.faults, [])
    assert.equal(await service.stop(), 0)
  })
}

test('the spans of a service that stops are sent before it exits', async (t) => {
  const collector = await openHttpCollector(t)
  const service = await startTraced(t, collector, { OTEL_BSP_SCHEDULE_DELAY: '600000' })
  const client = await openDecisionClient(t, service)
  for (let sent = 0; sent < 5; sent++) await client.decide(createRequest('ann', 'user'))
  assert.equal(collector.spans.length, 0)
  assert.equal(await service.stop(), 0)
  assert.equal(collector.spans.length, 10)
})

test('spans can be sent with gzip and to a separate address', async (t) => {
  const [collector, other] = await Promise.all([openHttpCollector(t), openHttpCollector(t)])
  const service = await openTraced(t, other, {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.endpoint}/v1/traces`,
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
  })
  const client = await openDecisionClient(t, service)
  await client.decide(createRequest('ann', 'user'))
  await collector.untilSpans(serverSpan)
  assert.deepEqual([...new Set(collector.headers('content-encoding'))], ['gzip'])
  assert.equal(other.requests, 0)
  assert.deepEqual(collector.faults, [])
})

test('a call belongs to the trace of its caller, with any kind of trace header', async (t) => {
  const collector = await openHttpCollector(t)
  const service = await openTraced(t, collector, { TRACING_SAMPLING_RATE: '0' })
  const client = await openDecisionClient(t, service)
  const short = traceId.slice(16)
  const callers: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
    [{ traceparent: `00-${traceId}-${spanId}-01`, tracestate: 'vendor=1' }, traceId],
    [{ b3: `${traceId}-${spanId}-1` }, traceId],
    [{ b3: `${short}-${spanId}-d` }, `${'0'.repeat(16)}${short}`],
    [{ 'x-b3-traceid': traceId, 'x-b3-spanid': spanId, 'x-b3-sampled': '1' }, traceId],
    [{ 'x-b3-traceid': traceId, 'x-b3-spanid': spanId, 'x-b3-flags': '1' }, traceId],
    [{ traceparent: `00-${traceId}-${spanId}-01`, baggage: 'user=ann;x=1,=,%%%' }, traceId],
  ]
  for (const [index, [headers, expected]] of callers.entries()) {
    await client.decide(createRequest('ann', 'user'), { headers })
    const span = (await collector.untilSpans(serverSpan, index + 1))[index]
    assert.deepEqual([span?.traceId, span?.parentSpanId], [expected, spanId], String(index))
  }
  assert.equal(collector.spans.find(({ kind }) => kind === 2)?.traceState, 'vendor=1')

  const refusals = [
    {},
    { traceparent: `00-${traceId}-${spanId}-00` },
    { b3: `${traceId}-${spanId}-0` },
    { 'x-b3-traceid': traceId, 'x-b3-spanid': spanId, 'x-b3-sampled': '0' },
    { traceparent: 'nonsense' },
    { baggage: 'user=ann' },
  ]
  for (const headers of refusals) await client.decide(createRequest('ann', 'user'), { headers })
  assert.equal(await service.stop(), 0)
  assert.equal(collector.spans.length, 2 * callers.length)
  assert.deepEqual(collector.faults, [])
})

test('a call with invalid trace headers starts a new trace', async (t) => {
  const collector = await openHttpCollector(t)
  const service = await openTraced(t, collector)
  const client = await openDecisionClient(t, service)
  const nonsense = [
    { traceparent: `00-${'0'.repeat(32)}-${spanId}-01` },
    { traceparent: `ff-${traceId}-${spanId}-01` },
    { traceparent: `00-${traceId}-${spanId}-01-more` },
    { traceparent: '' },
    { b3: '1' },
    { 'x-b3-traceid': 'zz', 'x-b3-spanid': spanId },
  ]
  for (const headers of nonsense) await client.decide(createRequest('ann', 'user'), { headers })
  const spans = await collector.untilSpans(serverSpan, nonsense.length)
  assert.ok(spans.every((span) => span.parentSpanId === '' && span.traceId !== traceId))
  assert.equal(new Set(spans.map((span) => span.traceId)).size, nonsense.length)
})

test('errors are recorded in the spans', async (t) => {
  const collector = await openHttpCollector(t)
  const service = await openTraced(t, collector)
  const client = await openDecisionClient(t, service)

  const undecodable = await client.call(decisionPath, Buffer.from([0xff]))
  assert.equal(undecodable.code, status.INTERNAL)
  const [unreadable] = await collector.untilSpans(serverSpan, 1)
  assert.ok(unreadable)
  assert.equal(unreadable.attributes['rpc.grpc.status_code'], status.INTERNAL)
  assert.deepEqual([unreadable.statusCode, unreadable.statusMessage], [2, undecodable.message])

  const refused = await client.tryDecide({ ...createRequest('ann', 'user'), domain: '' })
  assert.equal(refused.code, status.UNKNOWN)
  const server = (await collector.untilSpans(serverSpan, 2))[1]
  const [decision] = await collector.untilSpans('ShouldRateLimit Execution')
  assert.ok(server && decision)
  const message = 'rate limit domain must not be empty'
  for (const span of [server, decision]) {
    assert.deepEqual([span.statusCode, span.statusMessage], [2, message])
  }
  assert.equal(server.attributes['rpc.grpc.status_code'], status.UNKNOWN)
  assert.equal(collector.spans.length, 3, 'a request that cannot be decoded is not decided')
})

test('a request to /json is one trace', async (t) => {
  const collector = await openHttpCollector(t)
  const service = await openTraced(t, collector, { TRACING_SAMPLING_RATE: '0' })
  await postJson(service, '{"domain":"shop","descriptors":[{"entries":[{"key":"user"}]}]}')
  const response = await fetch(`${service.httpUrl}/json`, {
    method: 'POST',
    body: '{"domain":"shop","descriptors":[{"entries":[{"key":"user","value":"b"}]}]}',
    headers: { traceparent: `00-${traceId}-${spanId}-01` },
  })
  assert.equal(response.status, 200)
  await response.text()

  const [server] = await collector.untilSpans('POST /json')
  const [decision] = await collector.untilSpans('ShouldRateLimit Execution')
  const [rest] = await collector.untilSpans('NewJsonHandler Remaining Execution')
  assert.ok(server && decision && rest)
  assert.deepEqual([server.kind, server.traceId, server.parentSpanId], [2, traceId, spanId])
  assert.deepEqual(server.attributes, {
    'http.request.method': 'POST',
    'http.route': '/json',
    'url.path': '/json',
    'url.scheme': 'http',
    'http.response.status_code': 200,
  })
  assert.deepEqual([decision.parentSpanId, rest.parentSpanId], [server.spanId, server.spanId])
  assert.equal(decision.attributes['domain'], 'shop')
  assert.match(
    String(rest.attributes['response']),
    /^overall_code:OK statuses:\{code:OK current_limit:\{requests_per_unit:1000 unit:HOUR\} /,
  )
  assert.ok(decision.endNs <= rest.startNs)

  const failed = await fetch(`${service.httpUrl}/json`, {
    method: 'POST',
    body: 'no JSON',
    headers: { b3: `${traceId}-${spanId}-1` },
  })
  assert.equal(failed.status, 400)
  await failed.text()
  const unreadable = (await collector.untilSpans('POST /json', 2))[1]
  assert.equal(unreadable?.attributes['http.response.status_code'], 400)
  assert.equal(unreadable?.statusCode, 0, 'this is an error of the client')
  assert.equal(collector.spans.length, 4)
  assert.deepEqual(collector.faults, [])
})

test('the span of a huge request has bounded size', async (t) => {
  const collector = await openHttpCollector(t)
  const service = await openTraced(t, collector, {
    OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT: '100',
    MAX_DESCRIPTORS_PER_REQUEST: '5000',
  })
  const client = await openDecisionClient(t, service)
  const keys = Array.from({ length: 5_000 }, () => 'user')
  await client.decide(createRequest('x'.repeat(100), ...keys))
  const [decision] = await collector.untilSpans('ShouldRateLimit Execution')
  assert.equal(String(decision?.attributes['request string']).length, 100)
})
