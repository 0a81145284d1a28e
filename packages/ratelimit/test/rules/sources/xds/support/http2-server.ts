import { once } from 'node:events'
import { createServer, type Http2Session, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import type { TestContext } from 'node:test'

export interface Http2Server {
  readonly url: string
  readonly streams: readonly ServerHttp2Stream[]
  /** The connections of the streams, including closed ones. */
  readonly sockets: readonly Socket[]
}

/** A plain HTTP/2 server, for behavior that no gRPC library supports. */
export async function openHttp2Server(
  t: TestContext,
  answer: (stream: ServerHttp2Stream, session: Http2Session) => void,
): Promise<Http2Server> {
  const streams: ServerHttp2Stream[] = []
  const sessions = new Set<Http2Session>()
  const sockets: Socket[] = []
  const server = createServer()
  server.on('connection', (socket: Socket) => sockets.push(socket))
  server.on('session', (session) => {
    sessions.add(session)
    session.on('error', () => {})
    session.on('close', () => sessions.delete(session))
  })
  server.on('stream', (stream: ServerHttp2Stream) => {
    streams.push(stream)
    stream.on('error', () => {})
    if (stream.session !== undefined) answer(stream, stream.session)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const session of sessions) session.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `127.0.0.1:${port}`, streams, sockets }
}

export const grpcHeaders = { ':status': 200, 'content-type': 'application/grpc' } as const
