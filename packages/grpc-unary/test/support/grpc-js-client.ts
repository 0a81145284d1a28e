import type { TestContext } from 'node:test'
import {
  type CallOptions,
  Client,
  type ClientDuplexStream,
  type ClientUnaryCall,
  credentials,
  type Metadata,
  type ServiceError,
  type StatusObject,
} from '@grpc/grpc-js'

const asBytes = (message: Buffer): Buffer => message

export interface Outcome {
  readonly error: ServiceError | null
  readonly message: string | undefined
}

/** A client from another library, closed with the test. */
export function openGrpcJsClient(
  t: TestContext,
  target: number | string,
  channelCredentials = credentials.createInsecure(),
): Client {
  const address = typeof target === 'number' ? `127.0.0.1:${target}` : target
  const client = new Client(address, channelCredentials, {
    'grpc.max_send_message_length': -1,
    'grpc.max_receive_message_length': -1,
    'grpc.use_local_subchannel_pool': 1,
    'grpc.enable_retries': 0,
  })
  t.after(() => client.close())
  return client
}

/** Makes a unary call whose messages are text. */
export async function callUnary(
  client: Client,
  path: string,
  text: string,
  {
    options = {},
    started,
    metadata,
  }: { options?: CallOptions; started?: (call: ClientUnaryCall) => void; metadata?: Metadata } = {},
): Promise<Outcome> {
  return await new Promise((resolve) => {
    const done = (error: ServiceError | null, value?: Buffer): void =>
      resolve({ error, message: value?.toString() })
    const bytes = Buffer.from(text)
    const call = metadata
      ? client.makeUnaryRequest(path, asBytes, asBytes, bytes, metadata, options, done)
      : client.makeUnaryRequest(path, asBytes, asBytes, bytes, options, done)
    started?.(call)
  })
}

export function openStream(client: Client, path: string): ClientDuplexStream<Buffer, Buffer> {
  return client.makeBidiStreamRequest(path, asBytes, asBytes)
}

/** How the call ended; waiting for an event would throw on a status other than OK. */
export async function finalStatus(
  stream: ClientDuplexStream<Buffer, Buffer>,
): Promise<StatusObject> {
  stream.on('error', () => {})
  return await new Promise((resolve) => stream.once('status', resolve))
}
