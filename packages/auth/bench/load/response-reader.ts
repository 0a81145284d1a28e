export interface Response {
  readonly status: number
  readonly body: string
}

const headEnd = Buffer.from('\r\n\r\n')

/** Reads the responses of an HTTP/1.1 connection with one request at a time. */
export class ResponseReader {
  #held: Buffer = Buffer.alloc(0)

  /** Returns undefined while the response is incomplete. */
  push(bytes: Buffer): Response | undefined {
    this.#held = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes])
    const end = this.#held.indexOf(headEnd)
    if (end < 0) return undefined
    const head = this.#held.toString('latin1', 0, end)
    const body = readBody(head, this.#held.subarray(end + headEnd.length))
    if (body === undefined) return undefined
    this.#held = Buffer.alloc(0)
    return { status: Number(head.slice(9, 12)), body }
  }
}

function readBody(head: string, rest: Buffer): string | undefined {
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) return readChunks(rest)
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
  return rest.length < length ? undefined : rest.toString('utf8', 0, length)
}

function readChunks(rest: Buffer): string | undefined {
  const chunks: Buffer[] = []
  for (let at = 0; ; ) {
    const lineEnd = rest.indexOf('\r\n', at)
    if (lineEnd < 0) return undefined
    const size = Number.parseInt(rest.toString('latin1', at, lineEnd), 16)
    const start = lineEnd + 2
    if (rest.length < start + size + 2) return undefined
    if (size === 0) return Buffer.concat(chunks).toString('utf8')
    chunks.push(rest.subarray(start, start + size))
    at = start + size + 2
  }
}
