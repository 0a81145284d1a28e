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

/** What a search looks at. */
const searched = {
  author: ["payload ->> 'actor_username'", "payload ->> 'actor_name'"],
  action: ["payload ->> 'action'"],
  type: ["payload ->> 'log_type'"],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type AuditScope = keyof typeof searched

/** $1 offset, $2 limit, $3 the pattern of a search. */
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

const toSearch = (scope: AuditScope) =>
  toStatement(scope, `(${searched[scope].map((text) => `${text} ilike $3`).join(' or ')})`)

export const searchAuditEntries = {
  author: toSearch('author'),
  action: toSearch('action'),
  type: toSearch('type'),
} as const satisfies Readonly<Record<AuditScope, unknown>>
