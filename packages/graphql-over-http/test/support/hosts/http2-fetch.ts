import { once } from 'node:events'
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from 'node:http2'

export interface Http2Client {
  readonly fetch: typeof fetch
  readonly session: ClientHttp2Session
  close(): void
}

/**
 * The part of `fetch` that the tests need, over one HTTP/2 connection. It adds no headers itself.
 */
export function openHttp2Fetch(origin: string, ca?: string | Buffer): Http2Client {
  const session = connect(origin, { ca })
  return {
    session,
    async fetch(input, init) {
      const request = new Request(input, init)
      const { pathname, search } = new URL(request.url)
      const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer())
      const stream = session.request({
        ...Object.fromEntries(request.headers),
        ':method': request.method,
        ':path': pathname + search,
      })
      stream.end(body)
      const [headers]: [IncomingHttpHeaders] = (await once(stream, 'response')) as never
      const received = Buffer.concat(await stream.toArray())
      const status = Number(headers[':status'])
      return new Response(status === 204 ? null : received, { status, headers: toHeaders(headers) })
    },
    close: () => session.destroy(),
  }
}

function toHeaders(incoming: IncomingHttpHeaders): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming)) {
    if (name.startsWith(':') || value === undefined) continue
    for (const each of Array.isArray(value) ? value : [value]) headers.append(name, each)
  }
  return headers
}
