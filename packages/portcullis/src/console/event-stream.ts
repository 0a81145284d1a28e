import type { FastifyReply } from 'fastify'
import { ConsoleError } from './errors.ts'

/** Server-sent events: what happens reaches the page without its asking again and again. */
interface EventStream {
  /** Fires when the page has gone, or the console stops. */
  readonly closed: AbortSignal
  send(event: string, data: unknown): void
  close(): void
}

export interface EventStreams {
  /** Answers the request with a stream. @throws {ConsoleError} when too many are open. */
  open(reply: FastifyReply): EventStream
  /** They would go on for ever, and keep the server from closing. */
  close(): void
}

/** Whoever stands between us and the page gives up connections on which nothing happens. */
const signOfLifeMs = 20_000
const returnMs = 1_000

/** Each asks servers for news, or waits for it. A page has two, and a browser opens six at most. */
export const mostStreams = 64

export function trackEventStreams(): EventStreams {
  const streams = new Set<EventStream>()
  return {
    open(reply) {
      if (streams.size >= mostStreams) {
        const message = `${mostStreams} pages of the console are open. Close some of them.`
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
    // For proxies that would rather collect it first.
    'x-accel-buffering': 'no',
  })
  const signs = setInterval(() => response.write(': still here\n\n'), signOfLifeMs).unref()
  response.once('close', () => {
    clearInterval(signs)
    closed.abort()
  })
  // The page shall know that it is connected before anything happens, and be back soon when it is not.
  response.write(`retry: ${returnMs}\n: connected\n\n`)
  // Whoever asks for the headers has them now.
  if (reply.request.method === 'HEAD') response.end()
  return {
    closed: closed.signal,
    send(event, data) {
      // A page that does not read on misses some: the next ones tell it the state again.
      if (closed.signal.aborted || response.writableEnded || response.writableNeedDrain) return
      response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
    },
    close() {
      response.end()
    },
  }
}
