/** Before each message stand a flag for compression and its length. */
const prefixLength = 5

export function toFrame(message: Uint8Array): Buffer {
  const frame = Buffer.alloc(prefixLength + message.length)
  frame.writeUInt32BE(message.length, 1)
  frame.set(message, prefixLength)
  return frame
}

/**
 * The gRPC messages in a stream of bytes, each in memory of its own: it can be given away to
 * another thread.
 * @throws {Error} when the bytes are no messages, or one is too long.
 */
export async function* readMessages(
  chunks: AsyncIterable<Buffer>,
  maxMessageBytes: number,
): AsyncGenerator<Buffer<ArrayBuffer>, void, undefined> {
  const prefix = Buffer.alloc(prefixLength)
  let prefixed = 0
  let message: Buffer<ArrayBuffer> | undefined
  let filled = 0
  for await (const chunk of chunks) {
    let at = 0
    while (at < chunk.length) {
      if (message === undefined) {
        const copied = chunk.copy(prefix, prefixed, at)
        at += copied
        prefixed += copied
        if (prefixed < prefixLength) break
        message = toEmptyMessage(prefix, maxMessageBytes)
        filled = 0
      }
      const copied = chunk.copy(message, filled, at)
      at += copied
      filled += copied
      if (filled === message.length) {
        yield message
        message = undefined
        prefixed = 0
      }
    }
  }
  if (prefixed > 0) throw new Error('the stream ended in the middle of a message')
}

function toEmptyMessage(prefix: Buffer, maxMessageBytes: number): Buffer<ArrayBuffer> {
  if (prefix[0] !== 0) throw new Error('the server sent a compressed message, unasked')
  const length = prefix.readUInt32BE(1)
  if (length > maxMessageBytes) {
    throw new Error(
      `the server sent a message of ${length} bytes, and XDS_CLIENT_MAX_MSG_SIZE_IN_BYTES ` +
        `allows ${maxMessageBytes}`,
    )
  }
  return Buffer.alloc(length)
}
