import type { Row } from '../../db/database.ts'
import { type Statement, statement } from '../../db/statement.ts'
import type { Time } from '../users/statements/user-row.ts'

/** Rows in one statement: few enough that no request waits long for a lock of ours. */
export const purgedAtOnce = 500

export interface PurgeRow extends Row {
  /** False: another process is cleaning up, and nothing was deleted. */
  readonly is_held: boolean
  readonly count: number
  /** The time of the newest row deleted; null where none was. */
  readonly newest: Time | null
}

interface PurgeTarget {
  readonly table: string
  /** The indexed column that says how old a row is. */
  readonly time: string
  readonly condition?: string
}

/**
 * Deletes the oldest rows whose time is before $1. The rows are read in the order of the index, so a
 * statement that finds nothing reads one page of it, however large the table is. The lock lasts as long as
 * the statement, so it works behind poolers too.
 */
function toPurge({ table, time, condition = 'true' }: PurgeTarget): Statement {
  return statement(
    `purge_${table}_by_${time}`,
    `with lock as materialized (
       select pg_try_advisory_xact_lock(hashtextextended('cleanup of {ns}', 0)) as is_held
     ), gone as (
       delete from {ns}.${table} where ctid = any(array(
         select ctid from {ns}.${table}
         where (select is_held from lock) and ${time} < $1 and ${condition}
         order by ${time} limit ${purgedAtOnce} for update skip locked
       )) returning ${time} as time
     )
     select (select is_held from lock) as is_held, count(*)::integer as count, max(time) as newest
     from gone`,
  )
}

/** Two statements for sessions: a condition on either of two columns would read the whole table. */
export const purges = {
  revokedSessions: toPurge({ table: 'sessions', time: 'revoked_at' }),
  expiredSessions: toPurge({ table: 'sessions', time: 'not_after' }),
  oneTimeTokens: toPurge({ table: 'one_time_tokens', time: 'expires_at' }),
  flowStates: toPurge({ table: 'flow_states', time: 'created_at' }),
  messageGaps: toPurge({ table: 'message_gaps', time: 'sent_at' }),
  codeAttempts: toPurge({ table: 'code_attempts', time: 'tried_at' }),
  challenges: toPurge({ table: 'mfa_challenges', time: 'expires_at' }),
  webAuthnChallenges: toPurge({ table: 'webauthn_challenges', time: 'expires_at' }),
  factors: toPurge({
    table: 'mfa_factors',
    time: 'created_at',
    condition: "status = 'unverified' and coalesce(last_challenged_at, created_at) < $1",
  }),
  failedMessages: toPurge({ table: 'outbox', time: 'failed_at' }),
  auditEntries: toPurge({ table: 'audit_log_entries', time: 'created_at' }),
} as const satisfies Readonly<Record<string, Statement>>
