import type { Row } from '../../db/database.ts'
import { statement } from '../../db/statement.ts'

export interface ReadinessRow extends Row {
  readonly migrations: readonly AppliedRow[]
  /** Messages to be sent, and those given up; both up to `mostCounted`, and one more beyond. */
  readonly waiting: number
  readonly given_up: number
  /** How long ago the oldest message to be sent was written; null: there is none. */
  readonly oldest_seconds: number | null
  /** For how long a message has been due that no process has taken. */
  readonly overdue_seconds: number | null
}

interface AppliedRow {
  readonly version: string
  readonly checksum: string | null
  readonly serves_from: string | null
}

/** To count a larger outbox exactly would take longer than anyone needs to know. */
export const mostCounted = 10_000

/** Everything that readiness depends on, by a few pages of indexes. */
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
)
