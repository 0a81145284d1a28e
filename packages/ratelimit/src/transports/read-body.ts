import type { IncomingMessage } from 'node:http'

/** The whole body, or why there is none. */
export type Body = Buffer | 'too large' | 'broken off'

/**
 * Calls back once. What comes after "too large" is read and thrown away, until the listener's time
 * limit: a connection that is closed with unread bytes loses the answer on its way.
 */
export function readBody(
  request: IncomingMessage,
  limitBytes: number,
  done: (body: Body) => void,
): void {
  const chunks: Buffer[] = []
  let length = 0
  let isDone = false
  const finish = (body: Body) => {
    if (isDone) return
    isDone = true
    chunks.length = 0
    done(body)
  }
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) finish('too large')
  request.on('data', (chunk: Buffer) => {
    if (isDone) return
    length += chunk.length
    if (length > limitBytes) finish('too large')
    else chunks.push(chunk)
  })
  request.on('end', () => finish(Buffer.concat(chunks)))
  request.on('error', () => finish('broken off'))
  request.on('close', () => finish('broken off'))
}
