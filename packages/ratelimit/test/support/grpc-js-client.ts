import assert from 'node:assert/strict'
import { on } from 'node:events'
import type { TestContext } from 'node:test'
import { Client, credentials, type StatusObject } from '@grpc/grpc-js'
import { createGrpcServer, type Methods } from '@portcullis/grpc-unary'

const asBytes = (bytes: Uint8Array): Buffer => Buffer.from(bytes)

/** A real server with the methods, and a grpc-js client that sends raw bytes. */
export async function openGrpcPair(t: TestContext, methods: Methods) {
  const server = createGrpcServer({ methods })
  const address = await server.listen({ host: '127.0.0.1', port: 0 })
  const port = 'port' in address ? address.port : 0
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure())
  t.after(async () => {
    client.close()
    await server.close()
  })
  return {
    call: (path: string, message: Uint8Array) =>
      new Promise<Buffer>((resolve, reject) => {
        client.makeUnaryRequest(path, asBytes, asBytes, message, (error, answer) => {
          if (error) reject(error)
          else resolve(answer ?? Buffer.alloc(0))
        })
      }),
    watch: (path: string, message: Uint8Array) =>
      client.makeServerStreamRequest(path, asBytes, asBytes, message),
    stream: (path: string) => client.makeBidiStreamRequest(path, asBytes, asBytes),
    server,
  }
}

/** The status of a streaming call. Its 'error' event, which has the same information, is ignored. */
export function statusOf(call: NodeJS.EventEmitter): Promise<StatusObject> {
  call.on('error', () => {})
  return new Promise((resolve) => call.once('status', resolve))
}

/** Returns the messages of a streaming call one by one. */
export function messagesOf(call: NodeJS.EventEmitter): () => Promise<Buffer> {
  const messages = on(call, 'data')
  return async () => {
    const { value } = await messages.next()
    assert.ok(value !== undefined, 'the call has ended')
    return value[0]
  }
}
