import type { IncomingMessage } from 'node:http'

/** The complete body, or why there is none. */
export type Body = Buffer | 'too large' | 'too many' | 'aborted'

export interface BodyLimits {
  /** Bytes of one body. */
  readonly bytes: number
  /** Bytes of all bodies that have not arrived completely. Default: 64 MiB, and at least four bodies. */
  readonly totalBytes?: number
}

interface IncompleteBody {
  bytes: number
  end(body: Body): void
}

const defaultTotalBytes = 64 * 2 ** 20
const fewestBodies = 4

/** When the bodies are too large together, the largest ones are dropped until this share of the limit is left. */
const relieved = 0.75

/**
 * Reads the bodies of requests in bounded memory. Clients could otherwise begin any number of them on separate
 * connections. The largest ones are dropped, because refusing new ones would let a few clients block all others.
 */
export class RequestBodies {
  readonly limitBytes: number
  readonly #totalBytes: number
  readonly #incomplete = new Set<IncompleteBody>()
  #bytes = 0

  constructor({ bytes, totalBytes }: BodyLimits) {
    this.limitBytes = bytes
    this.#totalBytes = totalBytes ?? Math.max(defaultTotalBytes, fewestBodies * bytes)
  }

  /**
   * Calls back once. After "too large" and "too many", the rest is read and discarded, until the timeout of the
   * listener: if a connection is closed with unread bytes, the client may not receive the response.
   */
  read(request: IncomingMessage, done: (body: Body) => void): void {
    const chunks: Buffer[] = []
    let isDone = false
    const body: IncompleteBody = {
      bytes: 0,
      end: (result) => {
        if (isDone) return
        isDone = true
        chunks.length = 0
        this.#incomplete.delete(body)
        this.#bytes -= body.bytes
        done(result)
      },
    }
    this.#incomplete.add(body)
    if (Number(request.headers['content-length'] ?? 0) > this.limitBytes) body.end('too large')
    request.on('data', (chunk: Buffer) => {
      if (isDone) return
      body.bytes += chunk.length
      this.#bytes += chunk.length
      if (body.bytes > this.limitBytes) {
        body.end('too large')
        return
      }
      chunks.push(chunk)
      if (this.#bytes > this.#totalBytes) this.#relieve()
    })
    request.on('end', () => body.end(Buffer.concat(chunks)))
    request.on('error', () => body.end('aborted'))
    request.on('close', () => body.end('aborted'))
  }

  #relieve(): void {
    const largest = [...this.#incomplete].sort((a, b) => b.bytes - a.bytes)
    for (const body of largest) {
      if (this.#bytes <= relieved * this.#totalBytes) return
      body.end('too many')
    }
  }
}
