import type { Metadata } from '../core/metadata.ts'
import { statement } from './statement.ts'
import type { Time } from './user-row.ts'

export interface AuditPageRow {
  readonly [column: string]: unknown
  /** Null: the page is empty, and this row only tells the total. */
  readonly id: string | null
  readonly payload: Metadata
  readonly ip_address: string
  readonly created_at: Time
  readonly total: number
}

const hasText = (...texts: readonly string[]) =>
  `(${texts.map((text) => `${text} ilike $3`).join(' or ')})`

/** What a search looks at. */
const searched = {
  author: hasText("payload ->> 'actor_username'", "payload ->> 'actor_name'"),
  action: hasText("payload ->> 'action'"),
  type: hasText("payload ->> 'log_type'"),
  /** Whom an entry is about, whoever did it: as the index has it. */
  user: "coalesce(payload #>> '{traits,user_id}', payload ->> 'actor_id')::uuid = $3",
} as const

export type AuditScope = keyof typeof searched

/** $1 offset, $2 limit, $3 the pattern of a search, or the id of a user. */
const toStatement = (name: string, condition: string) =>
  statement(
    `list_audit_entries_${name}`,
    `with total as (
       select count(*)::integer as total from {ns}.audit_log_entries where ${condition}
     ), page as (
       select id, payload, ip_address, created_at from {ns}.audit_log_entries where ${condition}
       order by created_at desc, id offset $1 limit $2
     )
     select page.*, total.total from total left join page on true
     order by page.created_at desc, page.id`,
  )

export const listAuditEntries = toStatement('all', 'true')

export const searchAuditEntries = {
  author: toStatement('author', searched.author),
  action: toStatement('action', searched.action),
  type: toStatement('type', searched.type),
  user: toStatement('user', searched.user),
} as const satisfies Readonly<Record<AuditScope, unknown>>
