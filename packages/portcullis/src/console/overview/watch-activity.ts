import { toMessage } from '@portcullis/service-kit/text/reason'
import { callWithTimeout, toKeyHeaders } from '../health/index.ts'
import type { AuthTarget } from '../settings.ts'
import type { RangeName } from './decision-history.ts'
import {
  type AuditEvent,
  countSignIns,
  parseAuditEntries,
  parseSignInFailures,
  readSignInCounts,
  type SignInsPeriod,
  toEvent,
  toFailureEntry,
} from './sign-ins.ts'
import type { Watch } from './watch.ts'

export type { AuditEvent }

/** User activity, from the counts and the audit log of the auth server. */
export interface ActivityState extends SignInsPeriod {
  readonly range: RangeName
  /** Whether the auth server counts failed sign-ins. */
  readonly hasFailures: boolean
  /** The server does not count sign-ins and the log was read only in part, so the numbers are too low. */
  readonly isPartial: boolean
  /** Newest first. */
  readonly events: readonly AuditEvent[]
  readonly fault?: string | undefined
}

const pageSize = 200
const mostPages = 5
const eventCount = 8
/** An entry may become visible some time after its timestamp. */
const lateMs = 15_000
/** How far back the log is read the first time. */
const firstMs = 16 * 60_000
const signInAction = 'login'
/** Left out of the list, because clients refresh tokens automatically. */
const routineActions: ReadonlySet<string> = new Set(['token_refreshed', 'token_revoked'])

/** Reads the counts of the auth server and new entries of its log, a few pages at most per refresh. */
export function watchActivity(auth: AuthTarget): Watch<ActivityState> {
  const signIns = countSignIns()
  const seen = new Map<string, number>()
  let newestAt = 0
  let events: readonly AuditEvent[] = []
  let failures: readonly AuditEvent[] = []
  let missedAt = Number.NEGATIVE_INFINITY
  let countsItself = true
  let fault: string | undefined

  async function readNew(signal: AbortSignal): Promise<void> {
    const isFirst = newestAt === 0
    const knownUntil = Math.max(newestAt - lateMs, Date.now() - firstMs)
    const fresh: AuditEvent[] = []
    let isComplete = false
    for (let page = 1; page <= mostPages && !isComplete; page += 1) {
      const entries = await readPage(auth, page, signal)
      for (const event of entries) {
        const { entry, at } = event
        // On the first refresh, older entries are shown too, so that the list is not empty.
        if ((at < knownUntil && !isFirst) || seen.has(entry.id)) continue
        seen.set(entry.id, at)
        fresh.push(event)
      }
      const last = entries.at(-1)
      // The first page is enough for the latest events; counting needs the other pages.
      isComplete =
        countsItself || entries.length < pageSize || last === undefined || last.at < knownUntil
    }
    if (!isComplete) missedAt = Date.now()
    take(fresh)
    if (!countsItself && isFirst) signIns.setKnownFrom(knownUntil)
  }

  function take(fresh: readonly AuditEvent[]): void {
    for (const { entry, at } of fresh) {
      const isSignIn = entry.payload.action === signInAction
      if (isSignIn && !countsItself) signIns.add(at, { succeeded: 1, failed: 0 })
    }
    const notable = fresh.filter(({ entry }) => !routineActions.has(entry.payload.action))
    events = [...notable, ...events].sort((a, b) => b.at - a.at).slice(0, eventCount)
    newestAt = Math.max(newestAt, ...fresh.map(({ at }) => at))
    for (const [id, at] of seen) if (at < newestAt - 2 * lateMs) seen.delete(id)
  }

  async function readFailures(signal: AbortSignal): Promise<void> {
    const path = `/admin/sign-in-failures?per_page=${eventCount}`
    const { status, text } = await readAuth(auth, path, signal)
    if (status === 200) failures = parseSignInFailures(text).map(toFailureEntry).map(toEvent)
  }

  return {
    intervalMs: 5_000,
    state: (range) => ({
      range,
      ...signIns.read(range, Date.now()),
      hasFailures: countsItself,
      isPartial: missedAt > Date.now() - firstMs,
      events: [...events, ...failures].sort((a, b) => b.at - a.at).slice(0, eventCount),
      fault,
    }),
    async refresh(signal) {
      try {
        countsItself = await readSignInCounts(signIns, (path) => readAuth(auth, path, signal))
        if (countsItself) await readFailures(signal)
        await readNew(signal)
        fault = undefined
      } catch (error) {
        if (!signal.aborted) fault = toMessage(error)
      }
    },
  }
}

async function readAuth({ url, key }: AuthTarget, path: string, signal: AbortSignal) {
  const headers = toKeyHeaders(await key())
  return await callWithTimeout('The auth server', `${url}${path}`, { headers, signal })
}

async function readPage(
  auth: AuthTarget,
  page: number,
  signal: AbortSignal,
): Promise<readonly AuditEvent[]> {
  const path = `/admin/audit?page=${page}&per_page=${pageSize}`
  const { status, text } = await readAuth(auth, path, signal)
  if (status === 200) return parseAuditEntries(text)
  throw new Error(
    faults[status] ?? `The auth server responded with status ${status} to GET /admin/audit.`,
  )
}

const faults: Readonly<Record<number, string>> = {
  401: 'The auth server refused the service key. Start the console with a service key of this server.',
  403: 'The auth server refused the service key. Start the console with a service key of this server.',
  404: 'This auth server does not provide its audit log.',
}
