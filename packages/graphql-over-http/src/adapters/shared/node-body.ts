import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { constants, type Http2ServerRequest } from 'node:http2'
import { bodyAlreadyRead, bodyTooLarge, findFault } from './error-responses.ts'

/**
 * How much of a refused body is still received and discarded. Closing the connection at once would
 * reset it, and a client that is still sending would see the reset instead of the response.
 */
const discardLimitBytes = 16 * 1024 * 1024

/**
 * Reads a request body of Node's HTTP/1 or HTTP/2 server as text. The promise always settles, even
 * if the client disconnects midway.
 */
export function readNodeBody(
  stream: IncomingMessage | Http2ServerRequest,
  limitBytes: number,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const { headers } = stream
    const fault = findFault(headers['content-length'], headers['content-encoding'], limitBytes)
    if (fault) {
      discard(stream)
      reject(fault)
      return
    }
    if (stream.readableDidRead) {
      reject(
        bodyAlreadyRead(
          'mount the GraphQL handler before the body parser, or use a body parser that leaves its ' +
            'result in "request.body" together with the adapter of that framework',
        ),
      )
      return
    }
    if (stream.readableEnded) {
      resolve('')
      return
    }
    if (stream.destroyed) {
      reject(clientGone())
      return
    }

    let only: Buffer | undefined
    let several: Buffer[] | undefined
    let size = 0
    let isComplete = false

    const onData = (data: Buffer | string) => {
      const chunk = typeof data === 'string' ? Buffer.from(data) : data
      size += chunk.length
      if (size > limitBytes) {
        only = several = undefined
        stream.off('data', onData)
        discard(stream)
        reject(bodyTooLarge(limitBytes))
      } else if (several !== undefined) several.push(chunk)
      else if (only !== undefined) several = [only, chunk]
      else only = chunk
    }
    const onEnd = () => {
      isComplete = true
      try {
        // The chunks are decoded together, since a character may be split between two of them.
        const bytes = several === undefined ? only : Buffer.concat(several, size)
        resolve(bytes === undefined ? '' : decodeUtf8(bytes))
      } catch (error) {
        reject(error)
      }
    }

    // The listeners are not removed: they are garbage-collected with the request, and a promise
    // settles only once.
    stream.on('data', onData)
    stream.on('end', onEnd)
    stream.on('error', reject)
    stream.on('close', () => {
      // `close` also follows a complete body, where creating an error would be wasted work.
      if (!isComplete) reject(clientGone())
    })
  })
}

/** Throws on invalid UTF-8, where a lenient decoder would silently change the text. */
export function decodeUtf8(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new Error('The request body is not valid UTF-8')
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
}

function clientGone(): Error {
  return new Error('The client disconnected before the request body was complete')
}

function discard(stream: IncomingMessage | Http2ServerRequest): void {
  let left = discardLimitBytes
  stream.on('data', (data: Buffer | string) => {
    left -= data.length
    if (left < 0) cut(stream)
  })
  stream.on('error', () => {})
}

function cut(request: IncomingMessage | Http2ServerRequest): void {
  // RFC 9113, section 8.1: this code asks the client to stop an upload that is not read.
  if ('stream' in request) request.stream.close(constants.NGHTTP2_NO_ERROR)
  else request.destroy()
}
