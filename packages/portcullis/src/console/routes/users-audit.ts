import type { FastifyReply } from 'fastify'
import type { AuditEntry } from '../overview/sign-ins.ts'
import { parseSignInFailures, toFailureEntry } from '../overview/sign-ins.ts'
import type { AuthTarget } from '../settings.ts'
import { callAsAdmin, readJson } from './admin-endpoints.ts'

export type { AuditEntry }

/** A page of a user's audit log entries and failed sign-ins, newest first. */
export interface UserAudit {
  readonly entries: readonly AuditEntry[]
  /** Whether `read` and `total` count the user's entries or, if the log cannot be searched, all entries. */
  readonly counts: 'user' | 'log'
  /** How many entries have been read, from the newest on. */
  readonly read: number
  readonly total: number
  /** The page to continue with; undefined at the end of the log. */
  readonly next?: number
}

const ownPageSize = 50
const logPageSize = 1_000
/** After this many pages the user decides whether to continue, so that they do not wait too long. */
const mostPages = 10
const enough = 20
const mostFailures = 200

/**
 * The Portcullis auth server can search the log by user. Other servers can search only by the name of the
 * actor, which may change or belong to an administrator, so their log is read from its newest entry until
 * enough entries are found.
 * @param first The page to begin with.
 */
export async function readUserAudit(
  auth: AuthTarget,
  userId: string,
  first: number,
  reply: FastifyReply,
): Promise<UserAudit | FastifyReply> {
  const page = await readPage(auth, first, ownPageSize, `user:${userId}`)
  if (page.answer.status === 400) return readLog(auth, userId, first, reply)
  if (!page.answer.ok) return forward(page, reply)
  const { log, read, total } = parsePage(page)
  const hasMore = read < total
  // Older failures come with older entries. Newer ones may be repeated; the page removes duplicates.
  const oldest = hasMore ? toTime(log.at(-1)) : 0
  const failures = (await readFailures(auth, userId)).filter((entry) => toTime(entry) >= oldest)
  const entries = [...log, ...failures].sort((a, b) => toTime(b) - toTime(a))
  return { entries, counts: 'user', read, total, ...(hasMore && { next: first + 1 }) }
}

function toTime(entry: AuditEntry | undefined): number {
  return entry === undefined ? 0 : Date.parse(entry.created_at)
}

/** Empty if the auth server does not record failures. */
async function readFailures(auth: AuthTarget, userId: string): Promise<readonly AuditEntry[]> {
  const query = new URLSearchParams({ user_id: userId, per_page: `${mostFailures}` })
  const answer = await callAsAdmin(auth, { method: 'GET', path: '/admin/sign-in-failures', query })
  if (answer.ok) return parseSignInFailures(await readJson(answer)).map(toFailureEntry)
  await answer.body?.cancel()
  return []
}

async function readLog(
  auth: AuthTarget,
  userId: string,
  first: number,
  reply: FastifyReply,
): Promise<UserAudit | FastifyReply> {
  const entries: AuditEntry[] = []
  for (let number = first; ; number++) {
    const page = await readPage(auth, number, logPageSize)
    if (!page.answer.ok) return forward(page, reply)
    const { log, read, total } = parsePage(page)
    entries.push(...log.filter((entry) => isAbout(entry, userId)))
    if (read >= total) return { entries, counts: 'log', read, total }
    if (entries.length >= enough || number >= first + mostPages - 1) {
      return { entries, counts: 'log', read, total, next: number + 1 }
    }
  }
}

interface LogPage {
  readonly answer: Response
  readonly text: string
  /** The number of entries up to the end of this page, if the page is full. */
  readonly upTo: number
}

async function readPage(
  auth: AuthTarget,
  number: number,
  size: number,
  search?: string,
): Promise<LogPage> {
  const query = new URLSearchParams({ page: `${number}`, per_page: `${size}` })
  if (search !== undefined) query.set('query', search)
  const answer = await callAsAdmin(auth, { method: 'GET', path: '/admin/audit', query })
  return { answer, text: await readJson(answer), upTo: number * size }
}

function parsePage({ answer, text, upTo }: LogPage) {
  const log: readonly AuditEntry[] = JSON.parse(text)
  const total = Number(answer.headers.get('x-total-count') ?? log.length)
  return { log, total, read: Math.min(total, upTo) }
}

function forward({ answer, text }: LogPage, reply: FastifyReply): FastifyReply {
  return reply.code(answer.status).type('application/json').send(text)
}

function isAbout({ payload }: AuditEntry, userId: string): boolean {
  return payload.actor_id === userId || payload.traits?.['user_id'] === userId
}
