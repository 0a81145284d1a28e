import type { ServerResponse } from 'node:http'
import type { Http2ServerResponse } from 'node:http2'
import { isClosed } from './node-response.ts'

/** A signal that aborts when the connection is closed before the response was written. */
export function openNodeSignal(res: ServerResponse | Http2ServerResponse): AbortSignal {
  const controller = new AbortController()
  if (isClosed(res)) controller.abort()
  else {
    res.once('close', () => {
      if (!res.writableEnded) controller.abort()
    })
  }
  return controller.signal
}
