import type { Position, RevocationFeed } from './feed.ts'
import type { RevocationRow } from './statements.ts'

interface StreamSettings {
  readonly feed: RevocationFeed
  /** The `Last-Event-ID` of a client that connects again. */
  readonly lastEventId: string | undefined
  /** How long revocations are kept. */
  readonly keptMs: number
  readonly now: () => number
  readonly signal: AbortSignal
}

/** A key that has expired or was revoked is noticed when the client connects again. */
const longestMs = 3_600_000
/** The delay before a client connects again. */
const retryMs = 500

/**
 * The text of a stream of server-sent events. `settings` comes first, `revocations` has entries, and
 * `current` follows when the client has all of them. It is repeated every second as a sign of life.
 */
export async function* toEventStream(settings: StreamSettings): AsyncGenerator<string> {
  const { feed, lastEventId, keptMs, now } = settings
  const retention = { retention_seconds: Math.ceil(keptMs / 1_000) }
  yield `retry: ${retryMs}\n${toEvent('settings', retention)}`
  // Clients of one server do not all connect again at the same time.
  const timeout = AbortSignal.timeout(Math.round(longestMs * (0.5 + Math.random() / 2)))
  const signal = AbortSignal.any([settings.signal, timeout])
  for await (const rows of feed.read({ from: parsePosition(lastEventId), keptMs, signal })) {
    const last = rows.at(-1)
    yield last === undefined
      ? toEvent('current', { time: now() / 1_000 })
      : `id: ${last.id}-${last.revoked_ms}\n${toEvent('revocations', rows.map(toEntry))}`
  }
}

function toEvent(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
}

/** Times are in seconds, as in access tokens. */
function toEntry({ kind, subject, until_ms: untilMs }: RevocationRow) {
  return {
    kind,
    ...(subject !== null && { id: subject }),
    ...(untilMs !== null && { until: Math.floor(untilMs / 1_000) }),
  }
}

function parsePosition(text = ''): Position | undefined {
  const [, id, revokedMs] = /^(\d{1,15})-(\d{1,15})$/.exec(text) ?? []
  if (id === undefined) return undefined
  return { id: Number(id), revokedMs: Number(revokedMs) }
}
