import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { createGrpcServer, status } from '@portcullis/grpc-unary'
import { type CollectedSpan, decodeSpans } from '@portcullis/test-servers/otlp'
import { until } from '../../support/service-process.ts'

export interface CollectorOptions {
  readonly port?: number
  /** How it handles the spans of a request. */
  readonly answer?: Answer
}

/**
 * `slow` accepts the spans after a delay, `hang` never answers, and `refuse` returns an error that must not
 * be retried.
 */
export type Answer = 'take' | 'slow' | 'refuse' | 'hang'

/** An OTLP collector that checks the protocol. */
export interface Collector {
  readonly port: number
  /** The value of OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly endpoint: string
  readonly spans: readonly CollectedSpan[]
  /** Protocol violations of clients. */
  readonly faults: readonly string[]
  /** One header of each request so far. */
  headers(name: string): readonly (string | undefined)[]
  /** The number of requests, whatever the response was. */
  readonly requests: number
  answer: Answer
  /** Waits until there are this many spans of that name, and returns all of them. */
  untilSpans(name: string, count?: number): Promise<readonly CollectedSpan[]>
  close(): Promise<void>
}

interface Received {
  readonly spans: CollectedSpan[]
  readonly faults: string[]
  readonly headers: ((name: string) => string | undefined)[]
}

function toCollector(
  t: Pick<TestContext, 'after'>,
  port: number,
  received: Received,
  behaviour: { answer: Answer },
  close: () => Promise<void>,
): Collector {
  t.after(close)
  const { spans, faults, headers } = received
  const named = (name: string) => spans.filter((span) => span.name === name)
  return {
    port,
    endpoint: `http://127.0.0.1:${port}`,
    spans,
    faults,
    headers: (name) => headers.map((read) => read(name)),
    get requests() {
      return headers.length
    },
    get answer() {
      return behaviour.answer
    },
    set answer(answer) {
      behaviour.answer = answer
    },
    async untilSpans(name, count = 1) {
      await until(
        () => named(name).length >= count,
        () => `there are ${count} spans ${name}; there are: ${spans.map((span) => span.name)}`,
      )
      return named(name)
    },
    close,
  }
}

/** Uses OTLP over HTTP with protobuf. */
export async function openHttpCollector(
  t: Pick<TestContext, 'after'>,
  { port = 0, answer = 'take' }: CollectorOptions = {},
): Promise<Collector> {
  const received: Received = { spans: [], faults: [], headers: [] }
  const behaviour = { answer }
  const server = createServer((request, response) => {
    void receive(request, response, received, behaviour)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    if (!server.listening) return
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  const address = server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  return toCollector(t, bound, received, behaviour, close)
}

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  received: Received,
  behaviour: { readonly answer: Answer },
): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const { method, url, headers } = request
  received.headers.push((name) => headers[name]?.toString())
  if (method !== 'POST' || url !== '/v1/traces') received.faults.push(`${method} ${url}`)
  if (headers['content-type'] !== 'application/x-protobuf') {
    received.faults.push(`content-type ${headers['content-type']}`)
  }
  if (behaviour.answer === 'hang') return
  if (behaviour.answer === 'refuse') {
    response.writeHead(400).end()
    return
  }
  if (behaviour.answer === 'slow') await wait(200)
  const body = Buffer.concat(chunks)
  take(headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body, received)
  response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
}

function take(bytes: Buffer, { spans, faults }: Received): void {
  try {
    spans.push(...decodeSpans(bytes))
  } catch (error) {
    faults.push(String(error))
  }
}

/** Uses OTLP over gRPC. */
export async function openGrpcCollector(
  t: Pick<TestContext, 'after'>,
  { port = 0, answer = 'take' }: CollectorOptions = {},
): Promise<Collector> {
  const received: Received = { spans: [], faults: [], headers: [] }
  const behaviour = { answer }
  const server = createGrpcServer({
    methods: {
      '/opentelemetry.proto.collector.trace.v1.TraceService/Export': {
        kind: 'unary',
        handle(call) {
          received.headers.push((name) => call.header(name))
          if (behaviour.answer === 'hang') return
          if (behaviour.answer === 'refuse') {
            call.fail(status.PERMISSION_DENIED, 'refused by the test')
            return
          }
          take(call.buffer.subarray(call.start, call.end), received)
          call.send(Buffer.alloc(0), 0, 0)
        },
      },
    },
    report: (error) => received.faults.push(String(error)),
  })
  const bound = await server.listen({ host: '127.0.0.1', port })
  const close = () => server.close()
  return toCollector(t, 'port' in bound ? bound.port : port, received, behaviour, close)
}
