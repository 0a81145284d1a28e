import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'

/** What the server does after it has read a request. */
const behaviours = {
  works: (response: ServerResponse) => void response.writeHead(200).end('{}'),
  'never responds': () => {},
  'responds with 500': (response: ServerResponse) => void response.writeHead(500).end('oops'),
  'responds with 503 and a page': (response: ServerResponse) =>
    void response.writeHead(503, { 'content-type': 'text/html' }).end('<h1>Back soon</h1>'),
  disconnects: (response: ServerResponse) => void response.socket?.resetAndDestroy(),
  'starts a response and disconnects': (response: ServerResponse) => {
    response.writeHead(200, { 'content-length': '100' }).write('{')
    setImmediate(() => response.socket?.resetAndDestroy())
  },
  'starts a response and stalls': (response: ServerResponse) => {
    response.writeHead(200, { 'content-length': '100' }).write('{')
  },
} as const

export type HttpBehaviour = keyof typeof behaviours

export interface FaultyHttpServer {
  readonly url: string
  /** The bodies of all requests. */
  readonly bodies: readonly string[]
  /** The number of requests without a response. */
  readonly open: number
  /** Sets the behaviour and disconnects waiting clients. */
  behave(name: HttpBehaviour): void
}

/** A third-party service that can fail in several ways. */
export async function openFaultyHttpServer(t: TestContext): Promise<FaultyHttpServer> {
  const bodies: string[] = []
  const waiting = new Set<ServerResponse>()
  let behaviour: HttpBehaviour = 'works'
  const server = createServer((request, response) => {
    waiting.add(response)
    response.once('close', () => waiting.delete(response))
    text(request).then((body) => {
      bodies.push(body)
      behaviours[behaviour](response)
    }, ignore)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    bodies,
    get open() {
      return waiting.size
    },
    behave(name) {
      behaviour = name
      server.closeAllConnections()
    },
  }
}

function ignore(): void {}
