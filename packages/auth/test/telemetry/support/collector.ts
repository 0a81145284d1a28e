import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { createGrpcServer, type UnaryCall } from '@portcullis/grpc-unary'
import {
  type CollectedPoint,
  decodePoints,
  decodeSpans,
  type CollectedSpan as TimedSpan,
} from '@portcullis/test-servers/otlp'
import { until } from '../../support/outbox.ts'

/** Omits the times, which vary and cannot be represented in JSON. */
type CollectedSpan = Omit<TimedSpan, 'startNs' | 'endNs'>

/** An OTLP collector that validates requests. */
export interface Collector {
  /** The value for OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly endpoint: string
  readonly spans: readonly CollectedSpan[]
  readonly points: readonly CollectedPoint[]
  /** Violations of the OTLP specification. */
  readonly faults: readonly string[]
  /** The values of a header in all requests so far. */
  headers(name: string): readonly (string | undefined)[]
  /** Waits for a span with this name. */
  untilSpan(name: string): Promise<CollectedSpan>
  /** Waits for a data point of this metric. */
  untilPoint(metric: string, attributes?: object): Promise<CollectedPoint>
  close(): Promise<void>
}

class Received {
  readonly spans: CollectedSpan[] = []
  readonly points: CollectedPoint[] = []
  readonly faults: string[] = []
  readonly headers: ((name: string) => string | undefined)[] = []

  take(signal: 'traces' | 'metrics', bytes: Buffer): void {
    try {
      if (signal === 'traces')
        this.spans.push(...decodeSpans(bytes).map(checkScope).map(toTimeless))
      else this.points.push(...decodePoints(bytes).map(checkScope))
    } catch (error) {
      this.faults.push(String(error))
    }
  }

  toCollector(port: number, close: () => Promise<void>): Collector {
    const { spans, points, faults, headers } = this
    const has = (point: CollectedPoint, wanted: object) =>
      Object.entries(wanted).every(([name, value]) => point.attributes[name] === value)
    return {
      endpoint: `http://127.0.0.1:${port}`,
      spans,
      points,
      faults,
      headers: (name) => headers.map((read) => read(name)),
      async untilSpan(name) {
        const find = () => spans.find((span) => span.name === name)
        await until(() => find() !== undefined)
        const found = find()
        assert.ok(found)
        return found
      },
      async untilPoint(metric, attributes = {}) {
        const find = () =>
          points.findLast((point) => point.metric === metric && has(point, attributes))
        await until(() => find() !== undefined)
        const found = find()
        assert.ok(found)
        return found
      },
      close,
    }
  }
}

function checkScope<Item extends { readonly scope: string }>(item: Item): Item {
  if (item.scope !== 'auth') throw new Error(`another scope: ${item.scope}`)
  return item
}

function toTimeless({ startNs: _startNs, endNs: _endNs, ...span }: TimedSpan): CollectedSpan {
  return span
}

/** Opens a collector for OTLP over HTTP with protobuf. */
export async function openHttpCollector(): Promise<Collector> {
  const received = new Received()
  const server = createServer((request, response) => void receive(request, response, received))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return received.toCollector(address.port, close)
}

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  received: Received,
): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const { method, url = '', headers } = request
  received.headers.push((name) => headers[name]?.toString())
  const [, signal] = /^\/v1\/(traces|metrics)$/.exec(url) ?? []
  if (method !== 'POST' || signal === undefined) received.faults.push(`${method} ${url}`)
  if (headers['content-type'] !== 'application/x-protobuf') {
    received.faults.push(`content-type ${headers['content-type']}`)
  }
  const body = Buffer.concat(chunks)
  const bytes = headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
  received.take(signal === 'metrics' ? 'metrics' : 'traces', bytes)
  response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
}

/** Opens a collector for OTLP over gRPC. */
export async function openGrpcCollector(): Promise<Collector> {
  const received = new Received()
  const taking = (signal: 'traces' | 'metrics') => ({
    kind: 'unary' as const,
    handle(call: UnaryCall) {
      received.headers.push((name) => call.header(name))
      received.take(signal, call.buffer.subarray(call.start, call.end))
      call.send(Buffer.alloc(0), 0, 0)
    },
  })
  const server = createGrpcServer({
    methods: {
      '/opentelemetry.proto.collector.trace.v1.TraceService/Export': taking('traces'),
      '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export': taking('metrics'),
    },
    report: (error) => received.faults.push(String(error)),
  })
  const bound = await server.listen({ host: '127.0.0.1', port: 0 })
  assert.ok('port' in bound)
  return received.toCollector(bound.port, () => server.close())
}
