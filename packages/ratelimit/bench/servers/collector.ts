import { once } from 'node:events'
import { createServer } from 'node:http'

export interface Collector extends AsyncDisposable {
  /** The environment that makes the server trace this fraction of its calls. */
  toEnvironment(rate: number): Readonly<Record<string, string>>
}

/** Receives spans over OTLP and discards them. */
export async function openCollector(): Promise<Collector> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    toEnvironment: (rate) => ({
      TRACING_ENABLED: 'true',
      TRACING_SAMPLING_RATE: `${rate}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}
