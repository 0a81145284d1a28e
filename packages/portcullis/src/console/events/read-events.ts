import { ConsoleError } from '../errors.ts'
import { parseObject, toKeyHeaders } from '../health/index.ts'
import { type AuditEvent, toAuditEvents } from '../overview/sign-ins.ts'
import type { AuthTarget } from '../settings.ts'
import { callUpstream } from '../upstream.ts'

export type { AuditEvent }

/** The parameters of `GET /admin/events`, by which events are selected. */
export const filterNames = [
  ...(['user', 'name', 'address', 'action', 'reason', 'failed', 'tokens', 'from'] as const),
] as const

const timeoutMs = 10_000

export type EventSearch = Readonly<Record<string, string>>

/** Audit log entries and failed sign-ins. */
export interface EventPage {
  readonly events: readonly AuditEvent[]
  /** Where older events continue; null at the end of the log. */
  readonly next: string | null
  /** Where the live tail continues. */
  readonly latest: string
}

/** @throws {ConsoleError} whose message is for the user. */
export async function readEvents(
  auth: AuthTarget,
  search: EventSearch,
  signal?: AbortSignal,
): Promise<EventPage> {
  const query = new URLSearchParams(search)
  const late = AbortSignal.timeout(timeoutMs)
  const answer = await callUpstream('The auth server', `${auth.url}/admin/events?${query}`, {
    headers: toKeyHeaders(await auth.key()),
    signal: signal ? AbortSignal.any([signal, late]) : late,
  })
  const { status } = answer
  const { events, next, latest, msg } = parseObject(await answer.text()) ?? {}
  if (status === 200 && typeof latest === 'string') {
    return { events: toAuditEvents(events), next: typeof next === 'string' ? next : null, latest }
  }
  throw toRefusal(status, typeof msg === 'string' ? msg : undefined)
}

function toRefusal(status: number, message: string | undefined): ConsoleError {
  if (status === 400 && message !== undefined) return new ConsoleError(400, 'bad_search', message)
  if (status === 401 || status === 403) {
    const text = `The auth server refused the service key (status ${status}). Use a service key of this server.`
    return new ConsoleError(502, 'key_refused', text)
  }
  if (status === 404) {
    const text =
      'This auth server has no endpoint /admin/events. Supabase Auth and earlier versions of Portcullis cannot search events.'
    return new ConsoleError(404, 'events_missing', text)
  }
  const text = `Unexpected response to GET /admin/events (status ${status}). Check that the URL is that of an auth server.`
  return new ConsoleError(502, 'upstream_unexpected', text)
}
