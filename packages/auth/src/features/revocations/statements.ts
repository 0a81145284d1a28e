import type { Row } from '../../db/database.ts'
import { statement } from '../../db/statement.ts'

export type RevocationKind = 'session' | 'user' | 'key' | 'everyone'

export interface RevocationRow extends Row {
  readonly id: number
  readonly kind: RevocationKind
  /** The ID of the session, user or API key; null for everyone. */
  readonly subject: string | null
  /** Milliseconds since the epoch; null: every token of the subject. */
  readonly until_ms: number | null
  /** Milliseconds since the epoch. */
  readonly revoked_ms: number
}

const toMs = (time: string) => `(extract(epoch from ${time}) * 1000)::bigint`

const columns = `id, kind, subject, ${toMs('until')} as until_ms, ${toMs('revoked_at')} as revoked_ms`

/** The next rows after an ID. Rows that were written before `since` are no longer needed. */
export const listRevocations = statement(
  'list_revocations',
  ['after', 'since', 'limit'],
  `select ${columns} from {ns}.revocations
   where id > $1 and revoked_at >= $2 order by id limit $3`,
).returning<RevocationRow>()

/** The row with an ID, or the newest one if the ID is null. */
export const findRevocation = statement(
  'find_revocation',
  ['id'],
  `select ${columns} from {ns}.revocations
   where id = coalesce($1::bigint, (select max(id) from {ns}.revocations))`,
).returning<RevocationRow>()
