import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import type { FetchInit, FetchResponse, Sink } from '../../src/client.ts'

export interface ReceivedRequest {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface ClientServer {
  readonly url: string
  readonly received: ReceivedRequest[]
}

/** An HTTP server on a free port that records its requests; closed when the test ends. */
export async function openClientServer(
  t: TestContext,
  answer: (res: ServerResponse, request: ReceivedRequest, index: number) => void,
): Promise<ClientServer> {
  const received: ReceivedRequest[] = []
  const server = createServer(async (req, res) => {
    const { method, url, headers } = req
    const request = { method, url, headers, body: await text(req) }
    answer(res, request, received.push(request) - 1)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/graphql`, received }
}

export function sendJson(
  res: ServerResponse,
  body: unknown,
  { status = 200, type = 'application/graphql-response+json; charset=utf-8' } = {},
): void {
  res.writeHead(status, { 'content-type': type }).end(JSON.stringify(body))
}

export type SinkEvent = ['next', unknown] | ['error', unknown] | ['complete']

/** A sink that records its calls; `ended` resolves with the first call that closes it. */
export function recordSink<T = unknown>(): Sink<T> & {
  readonly events: SinkEvent[]
  readonly ended: Promise<void>
} {
  const events: SinkEvent[] = []
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  return {
    events,
    ended,
    next: (value) => void events.push(['next', value]),
    error: (error) => {
      events.push(['error', error])
      resolve()
    },
    complete: () => {
      events.push(['complete'])
      resolve()
    },
  }
}

/** A fetch that responds from a list, one entry for each call, and records its calls. */
export function scriptFetch(...script: (FetchResponse | Error | Promise<never>)[]): {
  readonly calls: { readonly url: string; readonly init: FetchInit }[]
  fetchFn(url: string, init: FetchInit): Promise<FetchResponse>
} {
  const calls: { url: string; init: FetchInit }[] = []
  return {
    calls,
    fetchFn: async (url, init) => {
      const step = script[calls.push({ url, init }) - 1]
      if (step === undefined) throw new Error('the script has no further response')
      if (step instanceof Error) throw step
      return step
    },
  }
}

/** A response as a server would send it, with the content type of a GraphQL result. */
export function respond(body: BodyInit | null, init: ResponseInit = {}): Response {
  return new Response(body, {
    ...init,
    headers: { 'content-type': 'application/graphql-response+json', ...init.headers },
  })
}

/** Lets everything that is already scheduled run. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
}
