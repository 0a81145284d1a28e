import { setTimeout as wait } from 'node:timers/promises'
import { create, toBinary } from '@bufbuild/protobuf'
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { DiscoveryRequestSchema } from '../../../protocol/generated/envoy/service/discovery/v3/discovery_pb.ts'
import type { DiscoveryStream } from './discovery-stream.ts'
import { toReason } from './reason.ts'

interface ConversationParts {
  readonly subscription: Subscription
  /** Told of every response, before it is loaded. */
  readonly onResponse: () => void
  /** Resolves with the reason when the response is refused. */
  readonly load: (response: Buffer<ArrayBuffer>, envelope: Envelope) => Promise<string | undefined>
}

/** Many servers repeat what was refused as soon as they hear of it: that must not go on and on. */
const firstPauseMs = 100
const longestPauseMs = 5_000

/** Asks for rules and answers each response, until the stream is over: rejects with the reason. */
export async function converse(
  stream: DiscoveryStream,
  { subscription, onResponse, load }: ConversationParts,
): Promise<never> {
  let refusedVersion: string | undefined
  let pauseMs = 0
  stream.send(subscription.ask())
  let upcoming = takeNext(stream)
  for (;;) {
    const response = await upcoming
    const envelope = parseEnvelope(response)
    onResponse()
    upcoming = takeNext(stream)
    const refusal = await load(response, envelope)
    if (refusal === undefined) {
      refusedVersion = undefined
      stream.send(subscription.accept(envelope))
      continue
    }
    const isRepeated = envelope.version === refusedVersion
    pauseMs = isRepeated ? Math.min(longestPauseMs, Math.max(firstPauseMs, pauseMs * 2)) : 0
    refusedVersion = envelope.version
    await pauseUnlessMoreComes(pauseMs, upcoming)
    stream.send(subscription.refuse(envelope, refusal))
  }
}

/** Its failure is heard when it is awaited, which may be a while after it happened. */
function takeNext(stream: DiscoveryStream): Promise<Buffer<ArrayBuffer>> {
  const upcoming = stream.next()
  upcoming.catch(() => {})
  return upcoming
}

async function pauseUnlessMoreComes(pauseMs: number, upcoming: Promise<unknown>): Promise<void> {
  if (pauseMs === 0) return
  const over = new AbortController()
  const end = () => over.abort()
  upcoming.then(end, end)
  await wait(pauseMs, undefined, { signal: over.signal }).catch(() => {})
}

/** What is asked for: all resources of this type. */
export const configType = 'ratelimit.config.ratelimit.v3.RateLimitConfig'
const typeUrl = `type.googleapis.com/${configType}`

interface Node {
  readonly id: string
  readonly metadata: ReadonlyMap<string, string>
}

/** The requests of our side, encoded (reference 8). */
interface Subscription {
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

/** A `DiscoveryResponse` without its resources. */
export interface Envelope {
  readonly version: string
  readonly typeUrl: string
  readonly nonce: string
}

const fieldNumbers = { version: 1, typeUrl: 4, nonce: 5 } as const

/**
 * Skips the resources, so that it takes no time: even if everything else in a response is wrong, the
 * server can be told which one it was.
 * @throws {Error} when the response is not a protobuf message.
 */
function parseEnvelope(response: Uint8Array): Envelope {
  try {
    const texts = readTexts(response)
    const textOf = (number: number) => texts.get(number) ?? ''
    return {
      version: textOf(fieldNumbers.version),
      typeUrl: textOf(fieldNumbers.typeUrl),
      nonce: textOf(fieldNumbers.nonce),
    }
  } catch (error) {
    throw new Error(`the message cannot be decoded: ${toReason(error)}`, { cause: error })
  }
}

const wanted = new Set<number>(Object.values(fieldNumbers))

/** By field number. */
function readTexts(response: Uint8Array): ReadonlyMap<number, string> {
  const texts = new Map<number, string>()
  const reader = new BinaryReader(response)
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag()
    const isWanted = wireType === WireType.LengthDelimited && wanted.has(number)
    if (isWanted) texts.set(number, reader.string(true))
    else reader.skip(wireType, number)
  }
  return texts
}
