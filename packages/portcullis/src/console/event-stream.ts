import type { FastifyReply } from 'fastify'
import { ConsoleError } from './errors.ts'

/** Server-sent events, which spare the page from polling. */
interface EventStream {
  /** Aborted when the page disconnects or the console stops. */
  readonly closed: AbortSignal
  /** @returns whether the event was sent. A page that reads too slowly misses events. */
  send(event: string, data: unknown): boolean
  close(): void
}

export interface EventStreams {
  /** Answers the request with a stream. @throws {ConsoleError} when too many are open. */
  open(reply: FastifyReply): EventStream
  /** Ends all streams; open streams would keep the server from closing. */
  close(): void
}

/** Proxies close idle connections, so a comment is sent regularly. */
const keepAliveMs = 20_000
const retryMs = 1_000

/** A limit on open streams, since each one polls servers. A page has two, and a browser opens at most six. */
export const mostStreams = 64

export function trackEventStreams(): EventStreams {
  const streams = new Set<EventStream>()
  return {
    open(reply) {
      if (streams.size >= mostStreams) {
        const message = `Too many console pages are open. Close some of them and reload.`
        throw new ConsoleError(429, 'too_many_streams', message)
      }
      const stream = openEventStream(reply)
      streams.add(stream)
      stream.closed.addEventListener('abort', () => streams.delete(stream))
      return stream
    },
    close() {
      for (const stream of streams) stream.close()
    },
  }
}

function openEventStream(reply: FastifyReply): EventStream {
  const closed = new AbortController()
  const response = reply.raw
  const headers = Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)])
  reply.hijack()
  response.writeHead(200, {
    ...Object.fromEntries(headers),
    'content-type': 'text/event-stream; charset=utf-8',
    // Proxies such as nginx would otherwise buffer the stream.
    'x-accel-buffering': 'no',
  })
  const keepAlive = setInterval(() => response.write(': keep-alive\n\n'), keepAliveMs).unref()
  response.once('close', () => {
    clearInterval(keepAlive)
    closed.abort()
  })
  // Sent at once, so that the page knows that it is connected, and reconnects soon after a failure.
  response.write(`retry: ${retryMs}\n: connected\n\n`)
  // A HEAD request gets only the headers.
  if (reply.request.method === 'HEAD') response.end()
  return {
    closed: closed.signal,
    send(event, data) {
      // A slow page misses events. Most carry the whole state, so that is harmless.
      if (closed.signal.aborted || response.writableEnded || response.writableNeedDrain) {
        return false
      }
      response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
      return true
    },
    close() {
      response.end()
    },
  }
}
