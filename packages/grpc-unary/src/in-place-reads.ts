import { Socket } from 'node:net'

/**
 * The maximum size of one read: as much as a connection may send before it waits for its turn (see
 * `TURN_BYTES` in http2/read-turns.ts). A larger read would exceed that share at once.
 */
const READ_SIZE = 16_384

/** All sockets share one buffer, since each read is processed before the next one happens. */
const readBuffer = Buffer.allocUnsafeSlow(READ_SIZE)

/**
 * Returns a socket for the same connection that always reads into the same buffer, and calls `onRead`
 * with the number of bytes in it. Normally Node allocates a new buffer for every read: at full load
 * that is 100 MB/s of memory outside the heap, and a full garbage collection of 10 to 40 ms three
 * times a second.
 *
 * Client sockets have an option for this (`onread`). Sockets that a server accepts do not, so their
 * handle, which Node does not document, is moved to a new socket that has the option. Returns
 * undefined if that is not possible; the socket is then unchanged.
 */
export function readInPlace(
  socket: Socket,
  onRead: (bytes: Buffer, length: number) => void,
): Socket | undefined {
  // On Windows, reads of all sockets are pending at the same time, so they cannot share a buffer.
  if (process.platform === 'win32' || socket.constructor !== Socket) return undefined
  const source: Socket & { _handle?: unknown } = socket
  const handle = source._handle
  const isKnown = typeof handle === 'object' && handle !== null && 'useUserBuffer' in handle
  if (!isKnown || socket.readableLength > 0) return undefined

  const options = {
    handle,
    onread: {
      buffer: readBuffer,
      callback(length: number): boolean {
        onRead(readBuffer, length)
        return true
      },
    },
  }
  // The old socket is closed only so that the server that accepted it no longer counts it.
  source._handle = null
  socket.on('error', () => {})
  socket.destroy()
  // `new Socket(options)` does not compile, because the types declare another kind of handle.
  return Reflect.construct(Socket, [options])
}
