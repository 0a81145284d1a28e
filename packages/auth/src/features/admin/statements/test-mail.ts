import { object, statement } from '../../../db/statement.ts'
import { spendCap } from '../../../messages/statements/message-caps.ts'
import type { NewAuditEntry } from '../../../messages/statements/request-parts.ts'
import { logAction } from '../../audit/statements.ts'

interface TestMailPermit {
  readonly now: Date
  readonly ip: string
  readonly audit: NewAuditEntry
  readonly cap_most: number | null
  readonly cap_refill_ms: number | null
}

/**
 * Counts a test email against the limit of the server and writes the audit entry. Returns no row if the
 * limit is reached; then nothing was written.
 */
export const requestTestMail = statement(
  'request_test_mail',
  object<TestMailPermit>(),
  `with p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(now timestamptz, ip text, audit jsonb,
       cap_most integer, cap_refill_ms double precision)
   ), ${spendCap('email', {
     most: 'select cap_most from p',
     refillMs: 'select cap_refill_ms from p',
     count: '1',
     now: 'select now from p',
   })}, ${logAction('cap')}
   select 1 as allowed from cap`,
)
