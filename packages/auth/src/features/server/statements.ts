import type { Row } from '../../db/database.ts'
import { type NamedValues, type Statement, statement } from '../../db/statement.ts'
import type { Time } from '../users/statements/user-row.ts'

export interface ReadinessRow extends Row {
  readonly migrations: readonly AppliedRow[]
  /** Unsent messages, and messages that were given up. Both are capped at `mostCounted + 1`. */
  readonly waiting: number
  readonly given_up: number
  /** The age of the oldest unsent message; null when there is none. */
  readonly oldest_seconds: number | null
  /** How long the oldest due message has been waiting for a process; null when there is none. */
  readonly overdue_seconds: number | null
}

interface AppliedRow {
  readonly version: string
  readonly checksum: string | null
  readonly serves_from: string | null
}

/** Counting a larger outbox exactly would take too long. */
const mostCounted = 10_000

/** Reads all data for the readiness checks, with a few index pages. */
export const checkReadiness = statement(
  'check_readiness',
  `select
     (select coalesce(jsonb_agg(m), '[]') from (
       select version, checksum, serves_from from {ns}.schema_migrations) m) as migrations,
     waiting.count as waiting,
     extract(epoch from now() - waiting.oldest)::double precision as oldest_seconds,
     (select count(*)::integer from (
       select from {ns}.outbox where failed_at is not null limit ${mostCounted + 1}) f) as given_up,
     (select extract(epoch from now() - min(d.next_attempt_at))::double precision
       from unnest(array['email', 'sms', 'hook', 'request']) as c(channel)
         cross join unnest(array[0, 1]::smallint[]) as p(priority) cross join lateral (
           select o.next_attempt_at from {ns}.outbox o
           where o.channel = c.channel and o.priority = p.priority and o.failed_at is null
             and o.next_attempt_at <= now()
           order by o.next_attempt_at, o.id limit 1
         ) d) as overdue_seconds
   from (
     select count(*)::integer as count, min(created_at) as oldest from (
       select created_at from {ns}.outbox where failed_at is null limit ${mostCounted + 1}) w
   ) waiting`,
).returning<ReadinessRow>()

/** Rows per statement: few enough that requests do not wait long for our locks. */
export const purgedAtOnce = 500

interface PurgeRow extends Row {
  /** False when another process is cleaning up, so that nothing was deleted. */
  readonly is_held: boolean
  readonly count: number
  /** The time of the newest deleted row; null when none was deleted. */
  readonly newest: Time | null
}

interface PurgeTarget {
  readonly table: string
  /** The indexed column with the age of a row. */
  readonly time: string
  readonly condition?: string
}

/** Deletes rows whose time is before `before`. */
export type Purge = Statement<NamedValues<'before'>, PurgeRow>

/**
 * Deletes the oldest rows first. They are read in index order, so a statement that finds nothing
 * reads one index page, however large the table is. The lock lasts only for the statement, so it
 * also works behind connection poolers.
 */
function toPurge({ table, time, condition = 'true' }: PurgeTarget): Purge {
  return statement(
    `purge_${table}_by_${time}`,
    ['before'],
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
  ).returning<PurgeRow>()
}

/**
 * Sessions need two statements, because a condition on either of two columns would scan the whole
 * table.
 */
export const purges = {
  revokedSessions: toPurge({ table: 'sessions', time: 'revoked_at' }),
  expiredSessions: toPurge({ table: 'sessions', time: 'not_after' }),
  oneTimeTokens: toPurge({ table: 'one_time_tokens', time: 'expires_at' }),
  samlAssertions: toPurge({ table: 'saml_assertions', time: 'expires_at' }),
  oauthAuthorizations: toPurge({ table: 'oauth_authorizations', time: 'expires_at' }),
  flowStates: toPurge({ table: 'flow_states', time: 'created_at' }),
  messageGaps: toPurge({ table: 'message_gaps', time: 'sent_at' }),
  codeAttempts: toPurge({ table: 'code_attempts', time: 'tried_at' }),
  challenges: toPurge({ table: 'mfa_challenges', time: 'expires_at' }),
  webAuthnChallenges: toPurge({ table: 'webauthn_challenges', time: 'expires_at' }),
  web3Messages: toPurge({ table: 'web3_messages', time: 'expires_at' }),
  // A client with a document is stored by a request that anyone can send.
  describedClients: toPurge({
    table: 'oauth_clients',
    time: 'metadata_expires_at',
    condition: `not exists (select from {ns}.oauth_consents k where k.client_id = oauth_clients.id)
      and not exists (select from {ns}.sessions s where s.oauth_client_id = oauth_clients.id)`,
  }),
  dpopProofs: toPurge({ table: 'dpop_proofs', time: 'expires_at' }),
  factors: toPurge({
    table: 'mfa_factors',
    time: 'created_at',
    condition: "status = 'unverified' and coalesce(last_challenged_at, created_at) < $1",
  }),
  failedMessages: toPurge({ table: 'outbox', time: 'failed_at' }),
  revocations: toPurge({ table: 'revocations', time: 'revoked_at' }),
  auditEntries: toPurge({ table: 'audit_log_entries', time: 'created_at' }),
} as const satisfies Readonly<Record<string, Purge>>
