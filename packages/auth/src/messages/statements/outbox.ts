import type { Row } from '../../db/database.ts'
import { statement } from '../../db/statement.ts'

/**
 * `hook`: not a message, but a call to a hook of the operator. `request`: a deferred request for a
 * message, whose recipient is still to be looked up.
 */
export type MessageChannel = 'email' | 'sms' | 'hook' | 'request'

/** A channel as an SQL fragment; `given` stands for the column `channel` of `p`. */
export function toChannel(channel: MessageChannel | 'given'): string {
  return channel === 'given' ? "(select coalesce(channel, 'email') from p)" : `'${channel}'`
}

/** SQL fragments: `$4`, or `u.email`. */
export interface MessageInsert {
  readonly kind: string
  readonly recipient: string
  /**
   * The result of `toMessagePayload`, or `$5::jsonb || jsonb_build_object('Data',
   * u.raw_user_meta_data)`.
   */
  readonly payload: string
  /** Lifetime of the code in the message. */
  readonly expiresInSeconds: string
  /** One message per row: `cap`, or `found u cross join cap`. */
  readonly from: string
}

/**
 * Writes messages as part of a larger statement: `with …, message as (${insertMessage(…)}) …`. The
 * outbox uses the clock of the database, which all processes share.
 */
export function insertMessage(channel: MessageChannel | 'given', message: MessageInsert): string {
  const { kind, recipient, payload, expiresInSeconds, from } = message
  return `insert into {ns}.outbox (channel, kind, recipient, payload, expires_at, priority)
     select ${toChannel(channel)}, (${kind})::text, (${recipient})::text, (${payload})::jsonb,
       now() + make_interval(secs => (${expiresInSeconds})::double precision),
       ${toPriority(channel, kind)}
     from ${from}`
}

/** 0 for one-time codes, because users wait for them; 1 for invitations, notices and hooks. */
function toPriority(channel: MessageChannel | 'given', kind: string): string {
  if (channel === 'hook') return '1'
  return `case when (${kind})::text = 'invite' or (${kind})::text like '%\\_notification' then 1 else 0 end`
}

export interface OutboxRow extends Row {
  readonly id: number
  readonly channel: MessageChannel
  readonly kind: string
  readonly recipient: string
  readonly payload: Readonly<Record<string, unknown>>
  /**
   * Includes the current attempt. The next process that claims the message increments it, and then
   * updates of the previous one have no effect.
   */
  readonly attempts: number
  readonly created_at: string
  readonly expires_in_ms: number
}

/**
 * Lists the messages that are due in the channels `c`, the oldest first. The index `outbox_due`
 * contains everything that it needs.
 */
const listDue = (priority: 0 | 1, limit: string) => `select c.channel, d.id
     from unnest($1::text[], $2::integer[]) as c(channel, room) cross join lateral (
       select o.id from {ns}.outbox o
       where o.channel = c.channel and o.priority = ${priority} and o.failed_at is null
         and o.next_attempt_at <= now()
       order by o.next_attempt_at, o.id limit ${limit}
       for update skip locked
     ) d`

/**
 * Claims messages that are due, so that no other process does until the lease ends: new one-time
 * codes first, then retries, invitations and notifications. `rooms` is the maximum number per
 * channel.
 */
export const claimMessages = statement(
  'claim_messages',
  ['channels', 'rooms', 'leaseMs'],
  `with urgent as materialized (
     ${listDue(0, 'c.room')}
   ), other as materialized (
     ${listDue(1, '(select c.room - count(*) from urgent u where u.channel = c.channel)')}
   ), due as materialized (
     table urgent union all table other
   )
   update {ns}.outbox o set attempts = o.attempts + 1,
     next_attempt_at = now() + $3::double precision * interval '1 ms'
   from due where o.id = due.id
   returning o.id, o.channel, o.kind, o.recipient, o.payload, o.attempts, o.created_at,
     extract(epoch from o.expires_at - now())::double precision * 1000 as expires_in_ms`,
).returning<OutboxRow>()

/** Deletes a message that was sent, because its code must not be kept. */
export const deleteMessage = statement(
  'delete_message',
  ['id'],
  'delete from {ns}.outbox where id = $1',
)

/** Retries have a lower priority than codes that were not tried yet. */
export const retryMessage = statement(
  'retry_message',
  ['id', 'attempts', 'waitMs', 'error'],
  `update {ns}.outbox set last_error = $4, priority = 1,
     next_attempt_at = now() + $3::double precision * interval '1 ms'
   where id = $1 and attempts = $2 and failed_at is null`,
)

/** Reverts the claim of a message whose sending was stopped, so that it does not count as tried. */
export const releaseMessage = statement(
  'release_message',
  ['id', 'attempts'],
  `update {ns}.outbox set next_attempt_at = now(), attempts = attempts - 1
   where id = $1 and attempts = $2 and failed_at is null`,
)

/** Keeps the failure and its reason, but neither the code nor the recipient. */
export const failMessage = statement(
  'fail_message',
  ['id', 'attempts', 'error'],
  `update {ns}.outbox set failed_at = now(), last_error = $3, payload = '{}', recipient = ''
   where id = $1 and attempts = $2`,
)
