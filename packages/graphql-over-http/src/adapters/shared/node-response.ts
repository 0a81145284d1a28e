import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Http2ServerResponse } from 'node:http2'
import type { Response } from '../../request.ts'
import { isWithoutLength, toHeaders, varyByAccept } from './response-headers.ts'

type NodeResponse = ServerResponse | Http2ServerResponse

/**
 * Writes the whole response. Headers that were set on the native response before are kept, since
 * `writeHead` merges them. Does nothing if the client has disconnected or other code has already
 * responded.
 */
export function writeNodeResponse(
  [body, init]: Response,
  vary: boolean,
  _req: unknown,
  res: NodeResponse,
): void {
  if (res.headersSent || isClosed(res)) return
  const headers: OutgoingHttpHeaders = toHeaders(init)
  if (vary) headers['vary'] = varyByAccept(String(headers['vary'] ?? res.getHeader('vary') ?? ''))
  // Without a content length Node uses chunked encoding.
  if (!isWithoutLength(init.status)) {
    headers['content-length'] = body === null ? 0 : Buffer.byteLength(body)
  }
  if ('stream' in res) {
    // HTTP/2 has no status text; Node prints a warning when given one.
    res.writeHead(init.status, headers)
  } else if (init.statusText) {
    res.writeHead(init.status, init.statusText, headers)
  } else {
    res.writeHead(init.status, headers)
  }
  if (body === null) res.end()
  else res.end(body)
}

export function isClosed(res: NodeResponse): boolean {
  // The stream of an HTTP/2 response becomes undefined when the connection closes.
  return 'stream' in res ? (res.stream?.destroyed ?? true) : res.destroyed
}
