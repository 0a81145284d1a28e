import { setTimeout as wait } from 'node:timers/promises'
import type { DiscoveryStream } from './discovery-stream.ts'
import { type Envelope, parseEnvelope } from './envelope.ts'
import type { Subscription } from './subscription.ts'

export interface ConversationParts {
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
