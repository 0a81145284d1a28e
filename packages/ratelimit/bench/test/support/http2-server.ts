import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerHttp2Session } from 'node:http2'
import type { TestContext } from 'node:test'
import { fromBinary } from '@bufbuild/protobuf'
import {
  type RateLimitRequest,
  RateLimitRequestSchema,
} from '../../../src/protocol/generated/envoy/service/ratelimit/v3/rls_pb.ts'

export interface SeenCall {
  readonly headers: IncomingHttpHeaders
  readonly request: RateLimitRequest
}

export type Reply =
  | { readonly code: 1 | 2 }
  /** A status without a message. */
  | { readonly grpcStatus: number }
  | { readonly reset: true }

/** A gRPC server with Node's HTTP/2, which checks frames and headers. */
export async function openHttp2Server(t: TestContext, reply: (call: number) => Reply) {
  const calls: SeenCall[] = []
  const sessions = new Set<ServerHttp2Session>()
  const server = createServer()
  server.on('session', (session) => sessions.add(session))
  server.on('stream', async (stream, headers) => {
    const chunks: Buffer[] = []
    for await (const chunk of stream) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const call = calls.push({
      headers,
      request: fromBinary(RateLimitRequestSchema, body.subarray(5, 5 + body.readUInt32BE(1))),
    })
    const answer = reply(call)
    if ('reset' in answer) {
      stream.close(8)
    } else if ('grpcStatus' in answer) {
      stream.respond(
        {
          ':status': 200,
          'content-type': 'application/grpc',
          'grpc-status': `${answer.grpcStatus}`,
        },
        { endStream: true },
      )
    } else {
      stream.respond(
        { ':status': 200, 'content-type': 'application/grpc' },
        { waitForTrailers: true },
      )
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
      stream.end(Buffer.from([0, 0, 0, 0, 2, 0x08, answer.code]))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    for (const session of sessions) session.destroy()
    server.close()
    await once(server, 'close')
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('Expected a port')
  return { target: { host: '127.0.0.1', port: address.port }, calls, sessions }
}
