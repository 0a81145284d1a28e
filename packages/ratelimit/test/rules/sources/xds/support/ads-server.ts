import type { TestContext } from 'node:test'
import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf'
import { type Any, anyPack } from '@bufbuild/protobuf/wkt'
import {
  type Metadata,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServiceDefinition,
} from '@grpc/grpc-js'
import {
  type DiscoveryRequest,
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
} from '../../../../../src/protocol/generated/envoy/service/discovery/v3/discovery_pb.ts'
import {
  RateLimitConfigSchema,
  RateLimitUnit,
} from '../../../../../src/protocol/generated/ratelimit/v3/rls_conf_pb.ts'
import { until } from '../../../../support/file-source.ts'

export const typeUrl = 'type.googleapis.com/ratelimit.config.ratelimit.v3.RateLimitConfig'

/** A management server that is controlled by a test and can misbehave. */
export interface AdsServer {
  readonly port: number
  readonly url: string
  /** All streams that were ever opened. */
  readonly streams: readonly AdsStream[]
  /** Waits for the stream of that number, from 1. */
  stream(number: number): Promise<AdsStream>
  close(): void
}

export interface AdsStream {
  readonly metadata: Metadata
  readonly requests: readonly DiscoveryRequest[]
  readonly isOver: boolean
  /** Waits for the request of that number, from 1. */
  request(number: number): Promise<DiscoveryRequest>
  send(response: Response): void
  sendBytes(bytes: Uint8Array): void
  end(): void
  fail(code: number, details: string): void
}

export interface Response {
  readonly version?: string
  readonly nonce?: string
  readonly typeUrl?: string
  readonly resources?: readonly Any[]
}

export interface AdsServerOptions {
  readonly port?: number
  readonly credentials?: ServerCredentials
  /** Called for each stream before its first request is read. */
  readonly onStream?: (stream: AdsStream) => void
  readonly onRequest?: (stream: AdsStream, request: DiscoveryRequest) => void
}

const service: ServiceDefinition = {
  stream: {
    path: '/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources',
    requestStream: true,
    responseStream: true,
    requestSerialize: (bytes: Buffer) => bytes,
    requestDeserialize: (bytes: Buffer) => fromBinary(DiscoveryRequestSchema, bytes),
    responseSerialize: (bytes: Buffer) => bytes,
    responseDeserialize: (bytes: Buffer) => bytes,
  },
}

export async function openAdsServer(
  t: TestContext,
  { port = 0, credentials, onStream, onRequest }: AdsServerOptions = {},
): Promise<AdsServer> {
  const streams: AdsStream[] = []
  const server = new Server({ 'grpc.max_send_message_length': -1 })
  server.addService(service, {
    stream(call: ServerDuplexStream<DiscoveryRequest, Buffer>) {
      const stream = toStream(call, onRequest)
      streams.push(stream)
      onStream?.(stream)
    },
  })
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(
      `127.0.0.1:${port}`,
      credentials ?? ServerCredentials.createInsecure(),
      (error, found) => (error ? reject(error) : resolve(found)),
    )
  })
  const close = () => server.forceShutdown()
  t.after(close)
  return {
    port: bound,
    url: `127.0.0.1:${bound}`,
    streams,
    stream: (number) => waitFor(() => streams[number - 1], `stream ${number} is opened`),
    close,
  }
}

function toStream(
  call: ServerDuplexStream<DiscoveryRequest, Buffer>,
  onRequest: AdsServerOptions['onRequest'],
): AdsStream {
  const requests: DiscoveryRequest[] = []
  let isOver = false
  const stream: AdsStream = {
    metadata: call.metadata,
    requests,
    get isOver() {
      return isOver
    },
    request: (number) => waitFor(() => requests[number - 1], `request ${number} comes`),
    send: (response) => call.write(toResponse(response)),
    sendBytes: (bytes) => call.write(Buffer.from(bytes)),
    end: () => call.end(),
    fail: (code, details) => call.emit('error', { code, details }),
  }
  const end = () => {
    isOver = true
  }
  call.on('data', (request: DiscoveryRequest) => {
    requests.push(request)
    onRequest?.(stream, request)
  })
  call.on('error', end)
  call.on('end', end)
  call.on('close', end)
  call.on('cancelled', end)
  return stream
}

export function toResponse(response: Response): Buffer {
  const { version = '', nonce = '', resources = [] } = response
  const message = create(DiscoveryResponseSchema, {
    versionInfo: version,
    nonce,
    typeUrl: response.typeUrl ?? typeUrl,
    resources: [...resources],
  })
  return Buffer.from(toBinary(DiscoveryResponseSchema, message))
}

export type ConfigInit = MessageInitShape<typeof RateLimitConfigSchema>

export function toResource(config: ConfigInit): Any {
  return anyPack(RateLimitConfigSchema, create(RateLimitConfigSchema, config))
}

/** A resource with one limit, which is identified by its number of requests. */
export function toRules(requestsPerUnit: number, domain = 'd', name = 'a'): Any {
  const rateLimit = { unit: RateLimitUnit.MINUTE, requestsPerUnit }
  return toResource({ name, domain, descriptors: [{ key: 'k', rateLimit }] })
}

async function waitFor<Value>(find: () => Value | undefined, what: string): Promise<Value> {
  await until(() => find() !== undefined, what)
  const found = find()
  if (found === undefined) throw new Error(`Lost what was found: ${what}`)
  return found
}
