import { setTimeout as wait } from 'node:timers/promises'
import { create, toBinary } from '@bufbuild/protobuf'
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { toReason } from '@portcullis/service-kit/text/reason'
import { DiscoveryRequestSchema } from '../../../protocol/generated/envoy/service/discovery/v3/discovery_pb.ts'
import type { DiscoveryStream } from './discovery-stream.ts'

interface SubscriptionParts {
  readonly subscription: Subscription
  /** Called for every response, before it is loaded. */
  readonly onResponse: () => void
  /** Resolves with the reason if the response is refused. */
  readonly load: (response: Buffer<ArrayBuffer>, envelope: Envelope) => Promise<string | undefined>
}

/** Many servers resend a refused response immediately; the pause prevents a busy loop. */
const minPauseMs = 100
const maxPauseMs = 5_000

/** Requests rules and acknowledges each response until the stream ends; then rejects with the reason. */
export async function runSubscription(
  stream: DiscoveryStream,
  { subscription, onResponse, load }: SubscriptionParts,
): Promise<never> {
  let refusedVersion: string | undefined
  let pauseMs = 0
  stream.send(subscription.start())
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
    pauseMs = isRepeated ? Math.min(maxPauseMs, Math.max(minPauseMs, pauseMs * 2)) : 0
    refusedVersion = envelope.version
    await pauseUntilNext(pauseMs, upcoming)
    stream.send(subscription.refuse(envelope, refusal))
  }
}

/** A failure is handled when the promise is awaited, which may be later. */
function takeNext(stream: DiscoveryStream): Promise<Buffer<ArrayBuffer>> {
  const upcoming = stream.next()
  upcoming.catch(() => {})
  return upcoming
}

/** Waits, but not longer than until the next response. */
async function pauseUntilNext(pauseMs: number, upcoming: Promise<unknown>): Promise<void> {
  if (pauseMs === 0) return
  const over = new AbortController()
  const end = () => over.abort()
  upcoming.then(end, end)
  await wait(pauseMs, undefined, { signal: over.signal }).catch(() => {})
}

/** The type of the requested resources. */
export const configType = 'ratelimit.config.ratelimit.v3.RateLimitConfig'
const typeUrl = `type.googleapis.com/${configType}`

interface Node {
  readonly id: string
  readonly metadata: ReadonlyMap<string, string>
}

/** Creates the encoded requests of the client. */
interface Subscription {
  /** The version of the rules in force; empty if there are none. It is kept across streams. */
  readonly version: string
  /** Creates the first request of a stream. */
  start(): Uint8Array
  /** Acknowledges a response, whose version is in force from now on. */
  accept(response: Envelope): Uint8Array
  refuse(response: Envelope, reason: string): Uint8Array
}

/** Reasons quote names from the rules, whose length is not limited. */
const longestReason = 8 * 1024

/** `google.rpc.Code`: the response is invalid. */
const invalidArgument = 3

export function createSubscription(node: Node): Subscription {
  let version = ''
  // Only the first request of a stream must contain the node, but some servers expect it in each.
  const nodeFields = {
    id: node.id,
    ...(node.metadata.size > 0 && { metadata: Object.fromEntries(node.metadata) }),
  }

  function toRequest(responseNonce: string, refusal?: string): Uint8Array {
    const request = create(DiscoveryRequestSchema, {
      versionInfo: version,
      node: nodeFields,
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
    start: () => toRequest(''),
    accept(response) {
      version = response.version
      return toRequest(response.nonce)
    },
    refuse: (response, reason) => toRequest(response.nonce, reason.slice(0, longestReason)),
  }
}

/** Whether a response has our type. A server that omits the type has only one type. */
export function hasRequestedType(response: Envelope): boolean {
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
 * Skips the resources, so that it takes little time. Even if everything else in a response is invalid, the
 * rejection can identify it.
 * @throws Error when the response is not a protobuf message
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

const neededFields = new Set<number>(Object.values(fieldNumbers))

/** Returns the texts of these fields by their numbers. */
function readTexts(response: Uint8Array): ReadonlyMap<number, string> {
  const texts = new Map<number, string>()
  const reader = new BinaryReader(response)
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag()
    const isNeeded = wireType === WireType.LengthDelimited && neededFields.has(number)
    if (isNeeded) texts.set(number, reader.string(true))
    else reader.skip(wireType, number)
  }
  return texts
}
