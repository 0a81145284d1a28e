import type { FastifyReply } from 'fastify'
import type { AuthTarget } from '../settings.ts'
import { callAsAdmin, readJson } from './users-upstream.ts'

/** An entry of the auth server's audit log. */
export interface AuditEntry {
  readonly id: string
  readonly created_at: string
  readonly ip_address: string
  readonly payload: {
    readonly action: string
    readonly actor_id: string
    /** Of an administrator their role. */
    readonly actor_username: string
    readonly traits?: Readonly<Record<string, unknown>>
  }
}

/** A part of what the log tells of one user, newest first. */
export interface UserAudit {
  readonly entries: readonly AuditEntry[]
  /** How far the log was read, from its newest entry. */
  readonly read: number
  readonly total: number
  /** Where to read on. Undefined: this was the end of the log. */
  readonly next?: number
}

const pageSize = 1_000
/** Somebody waits: after as many entries they are asked whether to go on. */
const mostPages = 10
const enough = 20

/**
 * The log can be searched for the names of actors only, which change, and which are an administrator's
 * where one did something to the user. So it is read from its newest entry on until enough is found.
 * @param first the page of the log to begin with.
 */
export async function readUserAudit(
  auth: AuthTarget,
  userId: string,
  first: number,
  reply: FastifyReply,
): Promise<UserAudit | FastifyReply> {
  const entries: AuditEntry[] = []
  for (let page = first; ; page++) {
    const query = new URLSearchParams({ page: `${page}`, per_page: `${pageSize}` })
    const answer = await callAsAdmin(auth, { method: 'GET', path: '/admin/audit', query })
    const text = await readJson(answer)
    if (!answer.ok) return reply.code(answer.status).type('application/json').send(text)
    const log: readonly AuditEntry[] = JSON.parse(text)
    const total = Number(answer.headers.get('x-total-count') ?? log.length)
    entries.push(...log.filter((entry) => isAbout(entry, userId)))
    const read = Math.min(total, page * pageSize)
    if (read >= total) return { entries, read, total }
    if (entries.length >= enough || page >= first + mostPages - 1) {
      return { entries, read, total, next: page + 1 }
    }
  }
}

function isAbout({ payload }: AuditEntry, userId: string): boolean {
  return payload.actor_id === userId || payload.traits?.['user_id'] === userId
}
