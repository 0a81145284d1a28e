import { Socket } from 'node:net'

/** As much as one read of a socket brings at most. */
const READ_SIZE = 65_536

/** One for all sockets: each read is used up before the next one happens. */
const readBuffer = Buffer.allocUnsafeSlow(READ_SIZE)

/**
 * Returns a socket for the same connection that reads into one buffer for ever, and calls `onRead`
 * with the number of bytes in it. The usual way costs a new buffer for every read: at full load
 * that is 100 MB/s of memory outside the heap, and a full garbage collection of 10 to 40 ms three
 * times a second.
 *
 * Sockets that a client opens can be told to read that way (`onread`). Those that a server accepts
 * cannot, so their handle, which Node does not document, moves to a socket that is. Undefined where
 * that cannot be done; the socket is then as it was.
 */
export function readInPlace(
  socket: Socket,
  onRead: (bytes: Buffer, length: number) => void,
): Socket | undefined {
  // Windows fills the buffers of all sockets at the same time.
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
  // What is left of the old socket only has to be counted out by the server that accepted it.
  source._handle = null
  socket.on('error', () => {})
  socket.destroy()
  // Not `new`: the types know another sort of handle.
  return Reflect.construct(Socket, [options])
}
