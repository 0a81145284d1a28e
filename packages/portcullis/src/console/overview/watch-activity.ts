import { toMessage } from '../error-answers.ts'
import { ask } from '../health/ask.ts'
import { toKeyHeaders } from '../health/check-auth.ts'
import type { AuthTarget } from '../settings.ts'
import { type AuditEvent, parseAuditEntries } from './audit-entries.ts'
import { countSignIns, signInsCapacity, stepMs } from './sign-ins.ts'
import type { Watch } from './watch.ts'

export type { AuditEvent }

/** What people did, as the audit log of the auth server tells. */
export interface ActivityState {
  readonly capacity: number
  /** Sign-ins in the minute before each step, the newest last; none before the log could be read. */
  readonly signInsPerMinute: readonly number[]
  /** More happened than was read: the numbers are too low. */
  readonly isPartial: boolean
  /** The newest first. */
  readonly events: readonly AuditEvent[]
  readonly fault?: string | undefined
}

const pageSize = 200
const mostPages = 5
const eventCount = 8
/** An entry may become visible somewhat later than it says it was made. */
const lateMs = 15_000
const signInAction = 'login'
/** What clients do by themselves every so often is no news. */
const routineActions: ReadonlySet<string> = new Set(['token_refreshed', 'token_revoked'])

/** Reads what is new in the audit log, and never more than some pages at once. */
export function watchActivity(auth: AuthTarget): Watch<ActivityState> {
  const signIns = countSignIns()
  const seen = new Map<string, number>()
  let newestAt = 0
  let events: readonly AuditEvent[] = []
  let missedAt = Number.NEGATIVE_INFINITY
  let hasRead = false
  let fault: string | undefined

  async function readNew(signal: AbortSignal): Promise<void> {
    const isFirst = newestAt === 0
    const knownUntil = Math.max(newestAt - lateMs, signIns.oldest(Date.now()))
    const fresh: AuditEvent[] = []
    let isComplete = false
    for (let page = 1; page <= mostPages && !isComplete; page += 1) {
      const entries = await readPage(auth, page, signal)
      for (const event of entries) {
        const { entry, at } = event
        // At the first look what is old is still the latest that happened.
        if ((at < knownUntil && !isFirst) || seen.has(entry.id)) continue
        seen.set(entry.id, at)
        fresh.push(event)
      }
      const last = entries.at(-1)
      isComplete = entries.length < pageSize || last === undefined || last.at < knownUntil
    }
    if (!isComplete) missedAt = Date.now()
    take(fresh)
  }

  function take(fresh: readonly AuditEvent[]): void {
    for (const { entry, at } of fresh) {
      if (entry.payload.action === signInAction) signIns.add(at)
    }
    const news = fresh.filter(({ entry }) => !routineActions.has(entry.payload.action))
    events = [...news, ...events].sort((a, b) => b.at - a.at).slice(0, eventCount)
    newestAt = Math.max(newestAt, ...fresh.map(({ at }) => at))
    for (const [id, at] of seen) if (at < newestAt - 2 * lateMs) seen.delete(id)
  }

  return {
    intervalMs: stepMs,
    state: () => ({
      capacity: signInsCapacity,
      signInsPerMinute: hasRead ? signIns.perMinute(Date.now()) : [],
      isPartial: missedAt > signIns.oldest(Date.now()),
      events,
      fault,
    }),
    async look(signal) {
      try {
        await readNew(signal)
        hasRead = true
        fault = undefined
      } catch (error) {
        if (!signal.aborted) fault = toMessage(error)
      }
    },
  }
}

async function readPage(
  { url, key }: AuthTarget,
  page: number,
  signal: AbortSignal,
): Promise<readonly AuditEvent[]> {
  const { status, text } = await ask(
    'The auth server',
    `${url}/admin/audit?page=${page}&per_page=${pageSize}`,
    { headers: toKeyHeaders(await key()), signal },
  )
  if (status === 200) return parseAuditEntries(text)
  throw new Error(faults[status] ?? `The auth server answers ${status} to GET /admin/audit.`)
}

const faults: Readonly<Record<number, string>> = {
  401: "The auth server refuses the console's key.",
  403: "The auth server refuses the console's key.",
  404: 'This auth server has no audit log to read.',
}
