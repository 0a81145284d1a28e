import { create, toBinary } from '@bufbuild/protobuf'
import { DiscoveryRequestSchema } from '../../../protocol/generated/envoy/service/discovery/v3/discovery_pb.ts'
import type { Envelope } from './envelope.ts'

/** What is asked for: all resources of this type. */
export const configType = 'ratelimit.config.ratelimit.v3.RateLimitConfig'
const typeUrl = `type.googleapis.com/${configType}`

export interface Node {
  readonly id: string
  readonly metadata: ReadonlyMap<string, string>
}

/** The requests of our side, encoded (reference 8). */
export interface Subscription {
  /** The version of the rules in force; empty: none. It outlives streams. */
  readonly version: string
  /** Opens a stream. */
  ask(): Uint8Array
  /** From now on its version is the one in force. */
  accept(response: Envelope): Uint8Array
  refuse(response: Envelope, reason: string): Uint8Array
}

/** A reason quotes names out of the rules, and nothing limits the length of those. */
const longestReason = 8 * 1024

/** `google.rpc.Code`: the response is not what it should be. */
const invalidArgument = 3

export function createSubscription(node: Node): Subscription {
  let version = ''
  // Only the first request of a stream must name the node, but servers exist that look in each.
  const about = {
    id: node.id,
    ...(node.metadata.size > 0 && { metadata: Object.fromEntries(node.metadata) }),
  }

  function toRequest(responseNonce: string, refusal?: string): Uint8Array {
    const request = create(DiscoveryRequestSchema, {
      versionInfo: version,
      node: about,
      typeUrl,
      responseNonce,
      ...(refusal !== undefined && { errorDetail: { code: invalidArgument, message: refusal } }),
    })
    return toBinary(DiscoveryRequestSchema, request)
  }

  return {
    get version() {
      return version
    },
    ask: () => toRequest(''),
    accept(response) {
      version = response.version
      return toRequest(response.nonce)
    },
    refuse: (response, reason) => toRequest(response.nonce, reason.slice(0, longestReason)),
  }
}

/** Whether a response is meant for us. A server that leaves its type out speaks of one type only. */
export function isOurs(response: Envelope): boolean {
  return response.typeUrl === '' || response.typeUrl.endsWith(`/${configType}`)
}
