import type { Row } from '../../db/database.ts'
import { statement } from '../../db/statement.ts'
import type { Metadata } from '../../stored-json.ts'
import type { Time } from '../users/statements/user-row.ts'

interface EchoRow extends Row {
  readonly now: Time
  readonly data: Metadata
}

/**
 * Returns the values as PostgreSQL would return them from a row: the precision of the time and the
 * order of keys would otherwise reveal whether a user was created. Writes an audit entry, unless
 * its ID is null.
 */
export const echoSignUp = statement(
  'echo_sign_up',
  ['auditId', 'auditPayload', 'ip', 'now', 'data'],
  `with logged as (
     insert into {ns}.audit_log_entries (id, payload, ip_address, created_at)
     select $1::uuid, $2::jsonb, $3::text, $4::timestamptz
     where $1::uuid is not null
   )
   select $4::timestamptz as now, $5::jsonb as data`,
).returning<EchoRow>()
