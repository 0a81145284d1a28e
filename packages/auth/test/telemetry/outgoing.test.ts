/**
 * @servers postgres
 * @isolated sets OpenTelemetry's process-wide logger
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, request } from 'node:http'
import { type TestContext, test } from 'node:test'
import { propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import {
  CompositePropagator,
  W3CBaggagePropagator,
  W3CTraceContextPropagator,
} from '@opentelemetry/core'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { traceOutgoing } from '../../src/telemetry/outgoing.ts'
import { apartFromCall, currentCall, type WatchedCall } from '../../src/telemetry/watched-call.ts'
import { newEmail, password } from '../support/http-client.ts'
import { openCollectedServer } from './support/collected-server.ts'

const statuses: Readonly<Record<string, number>> = { '/bad?token=secret': 500, '/none': 204 }

/** A third-party service that records the headers it receives. */
async function openService(t: TestContext) {
  const received: IncomingHttpHeaders[] = []
  const server = createServer(({ headers, url }, response) => {
    received.push(headers)
    response.writeHead(statuses[url ?? ''] ?? 200).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close().closeAllConnections())
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return { received, port: address.port, url: `http://127.0.0.1:${address.port}` }
}

function openTracer(t: TestContext) {
  const exporter = new InMemorySpanExporter()
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
  const tracer = provider.getTracer('test')
  const outgoing = traceOutgoing(
    tracer,
    new CompositePropagator({
      propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()],
    }),
  )
  t.after(() => outgoing[Symbol.dispose]())
  const span = tracer.startSpan('the request')
  const baggage = propagation.createBaggage({ tenant: { value: 'blue' } })
  const context = propagation.setBaggage(trace.setSpan(ROOT_CONTEXT, span), baggage)
  const call: WatchedCall = {
    method: 'GET',
    path: '/',
    route: '/',
    params: {},
    header: () => undefined,
    requestId: 'one',
    address: '',
    userAgent: '',
    grantType: undefined,
    context,
    audited: [],
    status: 0,
    durationMs: 0,
  }
  return { exporter, call, parent: span.spanContext() }
}

async function findClosedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  server.close()
  await once(server, 'close')
  return address.port
}

async function get(url: string): Promise<void> {
  const [response] = await once(request(url).end(), 'response')
  response.resume()
  await once(response, 'end')
}

test('outgoing requests carry the trace and the baggage of the incoming request', async (t) => {
  const { url, port, received } = await openService(t)
  const { exporter, call, parent } = openTracer(t)
  const closedPort = await findClosedPort()
  await currentCall.run(call, async () => {
    await (await fetch(`${url}/good`)).text()
    await (await fetch(`${url}/bad?token=secret`, { method: 'POST' })).text()
    await get(`${url}/good`)
    await assert.rejects(fetch(`http://127.0.0.1:${closedPort}/`))
  })
  const spans = exporter.getFinishedSpans()
  const about = spans.map(({ name, attributes, status, parentSpanContext }) => {
    assert.equal(parentSpanContext?.spanId, parent.spanId)
    return [name, attributes['http.response.status_code'], attributes['server.port'], status.code]
  })
  assert.deepEqual(about, [
    ['GET', 200, port, 0],
    ['POST', 500, port, 2],
    ['GET', 200, port, 0],
    ['GET', undefined, closedPort, 2],
  ])
  assert.deepEqual(
    received.map(({ traceparent, baggage }) => [traceparent, baggage]),
    spans
      .slice(0, 3)
      .map((span) => [`00-${parent.traceId}-${span.spanContext().spanId}-01`, 'tenant=blue']),
  )
  assert.ok(!JSON.stringify(spans.map(({ attributes }) => attributes)).includes('secret'))
})

test('requests outside an incoming request carry no trace', async (t) => {
  const { url, received } = await openService(t)
  const { exporter, call } = openTracer(t)
  await fetch(url)
  await currentCall.run(call, () => apartFromCall(() => fetch(url)))
  assert.deepEqual(
    received.map(({ traceparent }) => traceparent),
    [undefined, undefined],
  )
  assert.deepEqual(exporter.getFinishedSpans(), [])
})

test('a hook receives the trace and the baggage of the client', async (t) => {
  const { port, received } = await openService(t)
  const server = await openCollectedServer(t, 'http/protobuf', {
    AUTH_TRACING_ENABLED: 'true',
    AUTH_HOOK_BEFORE_USER_CREATED_ENABLED: 'true',
    AUTH_HOOK_BEFORE_USER_CREATED_URI: `http://127.0.0.1:${port}/none`,
    AUTH_HOOK_BEFORE_USER_CREATED_SECRETS: `v1,whsec_${Buffer.alloc(32, 7).toString('base64')}`,
  })
  if (!server) return
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  const { status } = await server.post(
    '/signup',
    { email: newEmail(), password },
    { traceparent: `00-${traceId}-b7ad6b7169203331-01`, baggage: 'tenant=blue' },
  )
  assert.equal(status, 200)
  const span = await server.collector.untilSpan('POST')
  assert.equal(span.parentSpanId, (await server.collector.untilSpan('POST /signup')).spanId)
  assert.deepEqual(
    received.map(({ traceparent, baggage }) => [traceparent, baggage]),
    [[`00-${traceId}-${span.spanId}-01`, 'tenant=blue']],
  )
})
