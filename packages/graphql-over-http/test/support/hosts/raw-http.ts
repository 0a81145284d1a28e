import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A connection for HTTP/1 requests that are written byte by byte. */
export async function openConnection(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.setNoDelay()
  // The tests notice a closed connection by the response that they received.
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/** Sends bytes as fast as the other side accepts them, until it disconnects. */
export async function sendBytes(socket: Socket, bytes: Buffer): Promise<void> {
  if (socket.destroyed || socket.write(bytes)) return
  await new Promise<void>((resolve) => {
    const done = () => {
      socket.off('drain', done)
      socket.off('close', done)
      resolve()
    }
    socket.on('drain', done)
    socket.on('close', done)
  })
}

/** The head of a request; the body is up to the caller. */
export function toHead(target: string, headers: { readonly [name: string]: string }): string {
  const lines = [`${target} HTTP/1.1`, 'host: localhost']
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}

export interface RawResponse {
  readonly status: number
  readonly head: string
  readonly body: string
}

/** Reads one response with a content length. Null when the connection ends before that. */
export function readResponse(socket: Socket): Promise<RawResponse | null> {
  return new Promise((resolve) => {
    let received = Buffer.alloc(0)
    const finish = (response: RawResponse | null) => {
      socket.off('data', onData)
      socket.off('close', onClose)
      resolve(response)
    }
    const onClose = () => finish(null)
    const onData = (data: Buffer) => {
      received = Buffer.concat([received, data])
      const end = received.indexOf('\r\n\r\n')
      if (end < 0) return
      const head = received.subarray(0, end).toString()
      const length = Number(/^content-length: (\d+)/im.exec(head)?.[1])
      const body = received.subarray(end + 4)
      if (body.length < length) return
      finish({ head, status: Number(head.split(' ')[1]), body: body.toString() })
    }
    socket.on('data', onData)
    socket.on('close', onClose)
  })
}
