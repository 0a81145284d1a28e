import { bodyTooLarge, findFault } from './error-responses.ts'
import { decodeUtf8 } from './node-body.ts'

/** The part of uWebSockets' response that delivers the request body. */
export interface BodySource {
  onData(callback: (chunk: ArrayBuffer, isLast: boolean) => void): unknown
}

export interface UwsBody {
  /** May be called at any later time, or never. */
  readonly read: () => Promise<string>
  /** Must be called when the client disconnects. */
  readonly abort: () => void
}

/**
 * Collects a request body from uWebSockets, which delivers it only to a listener that is registered
 * at once. The promise is created on the first read, so that an unread body cannot cause an
 * unhandled rejection.
 */
export function openUwsBody(
  source: BodySource,
  limitBytes: number,
  headers: { readonly [name: string]: string | undefined },
): UwsBody {
  let chunks: Uint8Array[] = []
  let size = 0
  let outcome: { readonly text: string } | { readonly error: unknown } | undefined
  let waiting: (() => void) | undefined

  const settle = (final: NonNullable<typeof outcome>) => {
    if (outcome !== undefined) return
    outcome = final
    chunks = []
    waiting?.()
  }
  const finish = (bytes: Uint8Array) => {
    try {
      settle({ text: decodeUtf8(bytes) })
    } catch (error) {
      settle({ error })
    }
  }

  const fault = findFault(headers['content-length'], headers['content-encoding'], limitBytes)
  if (fault) settle({ error: fault })
  source.onData((data, isLast) => {
    if (outcome !== undefined) return
    size += data.byteLength
    if (size > limitBytes) settle({ error: bodyTooLarge(limitBytes) })
    else if (isLast && chunks.length === 0) finish(new Uint8Array(data))
    else {
      // uWebSockets reuses the memory of a chunk for the next one.
      chunks.push(new Uint8Array(data.slice(0)))
      // The chunks are decoded together, since a character may be split between two of them.
      if (isLast) finish(Buffer.concat(chunks, size))
    }
  })

  return {
    read: () =>
      new Promise((resolve, reject) => {
        waiting = () => {
          if (outcome === undefined) return
          if ('text' in outcome) resolve(outcome.text)
          else reject(outcome.error)
        }
        waiting()
      }),
    abort: () =>
      settle({ error: new Error('The client disconnected before the body was complete') }),
  }
}
