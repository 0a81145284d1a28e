import type { TestContext } from 'node:test'
import {
  createGrpcServer,
  type GrpcServer,
  type GrpcServerOptions,
  type Methods,
  type UnaryCall,
} from '../../src/index.ts'

export interface TestServer {
  readonly server: GrpcServer
  readonly port: number
  /** Calls of `/test.Echo/Wait` that have not been answered. */
  readonly waiting: UnaryCall[]
  readonly reported: unknown[]
}

/** Listens on a free port until the test is over. */
export async function openEchoServer(
  t: TestContext,
  options: Partial<GrpcServerOptions> = {},
): Promise<TestServer> {
  const waiting: UnaryCall[] = []
  const reported: unknown[] = []
  const methods: Methods = {
    '/test.Echo/Say': {
      kind: 'unary',
      handle: (call) => call.send(call.buffer, call.start, call.end),
    },
    '/test.Echo/Later': {
      kind: 'unary',
      handle(call) {
        const message = Buffer.from(call.buffer.subarray(call.start, call.end))
        setImmediate(() => call.send(message, 0, message.length))
      },
    },
    '/test.Echo/Wait': {
      kind: 'unary',
      handle(call) {
        waiting.push(call)
      },
    },
    '/test.Echo/Stream': {
      kind: 'stream',
      open: (call) => ({ message: (message) => call.send(message), halfClose: () => call.end() }),
    },
    '/test.Echo/Throw': {
      kind: 'unary',
      handle() {
        throw new Error('a secret detail')
      },
    },
    '/test.Echo/Reject': {
      kind: 'unary',
      async handle() {
        await new Promise(setImmediate)
        throw new Error('a secret detail')
      },
    },
    ...options.methods,
  }
  const server = createGrpcServer({
    report: (error) => reported.push(error),
    ...options,
    methods,
  })
  t.after(() => server.close())
  const bound = await server.listen({ host: '127.0.0.1', port: 0 })
  if (!('port' in bound)) throw new Error('not bound to a port')
  return { server, port: bound.port, waiting, reported }
}

/** Waits until the condition is true; otherwise the time limit of the test ends it. */
export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 2))
}
