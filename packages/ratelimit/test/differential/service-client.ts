import { fromBinary, fromJson, type JsonObject, toBinary, toJson } from '@bufbuild/protobuf'
import { Client, credentials } from '@grpc/grpc-js'
import {
  RateLimitRequestSchema,
  RateLimitResponseSchema,
} from '../../src/protocol/generated/envoy/service/ratelimit/v3/rls_pb.ts'

export interface ServiceClient extends Disposable {
  readonly name: string
  /**
   * Requests and responses are JSON here and protobuf on the wire. A status that is not OK is also a
   * response.
   */
  call(request: JsonObject): Promise<JsonObject>
}

const path = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'
const patienceMs = 120_000

export function openServiceClient(name: string, address: string): ServiceClient {
  const client = new Client(address, credentials.createInsecure())
  return {
    name,
    call: (request) =>
      new Promise((resolve) => {
        client.makeUnaryRequest(
          path,
          (json: JsonObject) =>
            Buffer.from(toBinary(RateLimitRequestSchema, fromJson(RateLimitRequestSchema, json))),
          (bytes) => fromBinary(RateLimitResponseSchema, bytes),
          request,
          { deadline: Date.now() + patienceMs },
          (error, response) => {
            if (error) resolve({ status: error.code, message: error.details })
            else if (response) resolve(toJson(RateLimitResponseSchema, response) as JsonObject)
          },
        )
      }),
    [Symbol.dispose]: () => client.close(),
  }
}
