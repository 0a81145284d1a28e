import { statement } from '../../db/statement.ts'
import { type MessageChannel, toChannel } from './outbox.ts'

/** SQL fragments: `$4`, or `(select count(*) from found)`. */
export interface CapSpending {
  /** The maximum, `config.limits.emailSent.most`. Null: no limit. */
  readonly most: string
  /** `refillMs` of the same cap; null: the cap applies per hour. */
  readonly refillMs: string
  /** How many messages this statement writes. With 0 it only checks whether one could be sent. */
  readonly count: string
  readonly now: string
}

/**
 * Two parts of a `with` that subtract messages from what the whole server may still send. The
 * second, `cap`, has one row if the limit allows the messages, and none otherwise; dependent parts
 * select from it, so that a statement over the limit writes nothing. The row of the channel stays
 * locked until the end of the statement, which makes the count exact across all processes. To avoid
 * deadlocks, statements lock the user first.
 *
 * Without `refillMs`, an hour starts with its first message.
 */
export function spendCap(channel: MessageChannel | 'given', spending: CapSpending): string {
  const most = `(${spending.most})::integer`
  const refillMs = `(${spending.refillMs})::double precision`
  const now = `(${spending.now})::timestamptz`
  const isOver = toIsOver(now)
  const tokens = toTokens(most, refillMs, now)
  return `cap_spent as (
     insert into {ns}.message_caps as c (channel, window_start, sent, tokens, refilled_at)
     select ${toChannel(channel)}, ${now}, spent.count, ${most} - spent.count, ${now}
     from (select (${spending.count})::integer as count) spent
     where ${most} >= greatest(spent.count, 1)
     on conflict (channel) do update set
       window_start = case when ${isOver} then ${now} else c.window_start end,
       sent = case when ${isOver} then 0 else c.sent end + excluded.sent,
       tokens = case when ${refillMs} is null then c.tokens else ${tokens} - excluded.sent end,
       refilled_at = case when ${refillMs} is null then c.refilled_at else ${now} end
     where greatest(excluded.sent, 1) <= ${toRoom(most, refillMs, now)}
     returning 1
   ), cap as (
     select 1 as allowed from cap_spent union all select 1 where ${most} is null
   )`
}

/** The number of messages that may still be sent, computed from the row `c`. */
export function toRoom(most: string, refillMs: string, now: string): string {
  return `case when ${refillMs} is null
       then ${most} - case when ${toIsOver(now)} then 0 else c.sent end
       else ${toTokens(most, refillMs, now)} end`
}

function toIsOver(now: string): string {
  return `c.window_start <= ${now} - interval '1 hour'`
}

/** A clock that was set back removes no tokens. */
function toTokens(most: string, refillMs: string, now: string): string {
  const passedMs = `greatest(extract(epoch from ${now} - c.refilled_at)::double precision * 1000, 0)`
  return `least(${most}, c.tokens + ${passedMs} / ${refillMs})`
}

/** Seconds until another message can be sent, computed from the row `c`. */
export function toCapWait(most: string, refillMs: string, now: string): string {
  return `greatest(0, ceil(case when ${refillMs} is null
     then extract(epoch from c.window_start + interval '1 hour' - ${now})
     else (1 - ${toTokens(most, refillMs, now)}) * ${refillMs} / 1000 end))::integer`
}

/** For `Retry-After`. `refillMs` may be null. */
export const findCapWait = statement(
  'find_cap_wait',
  ['channel', 'most', 'refillMs', 'now'],
  `select ${toCapWait('$2::integer', '$3::double precision', '$4::timestamptz')} as wait_seconds
   from {ns}.message_caps c where c.channel = $1`,
).returning<{ readonly wait_seconds: number }>()
