import type { MessageChannel } from './outbox.ts'
import { statement } from './statement.ts'

/** Each a piece of SQL: `$4`, or `(select count(*) from found)`. */
export interface CapSpending {
  /** How many there may be, `config.limits.emailSent.most`. Null: no limit. */
  readonly most: string
  /** `refillMs` of the same; null: most in a fixed hour. */
  readonly refillMs: string
  /** How many messages this statement writes. With 0 it only asks whether one could go out. */
  readonly count: string
  readonly now: string
}

/**
 * Two parts of a `with` that take messages off what the whole server may still send. The second,
 * `cap`, has one row when there was room, and none otherwise: what depends on it selects from it,
 * so that a statement over the limit writes nothing. The row of the channel is locked from here
 * to the end of the statement, which makes the count exact among all processes. To never wait for
 * each other in a circle, statements lock the user before this.
 *
 * An hour begins with the first message in it.
 */
export function spendCap(channel: MessageChannel, spending: CapSpending): string {
  const most = `(${spending.most})::integer`
  const refillMs = `(${spending.refillMs})::double precision`
  const now = `(${spending.now})::timestamptz`
  const isOver = `c.window_start <= ${now} - interval '1 hour'`
  const tokens = toTokens(most, refillMs, now)
  return `cap_spent as (
     insert into {ns}.message_caps as c (channel, window_start, sent, tokens, refilled_at)
     select '${channel}', ${now}, spent.count, ${most} - spent.count, ${now}
     from (select (${spending.count})::integer as count) spent
     where ${most} >= greatest(spent.count, 1)
     on conflict (channel) do update set
       window_start = case when ${isOver} then ${now} else c.window_start end,
       sent = case when ${isOver} then 0 else c.sent end + excluded.sent,
       tokens = case when ${refillMs} is null then c.tokens else ${tokens} - excluded.sent end,
       refilled_at = case when ${refillMs} is null then c.refilled_at else ${now} end
     where greatest(excluded.sent, 1) <= case when ${refillMs} is null
       then ${most} - case when ${isOver} then 0 else c.sent end
       else ${tokens} end
     returning 1
   ), cap as (
     select 1 as allowed from cap_spent union all select 1 where ${most} is null
   )`
}

/** A clock that was set back takes nothing away. */
function toTokens(most: string, refillMs: string, now: string): string {
  const passedMs = `greatest(extract(epoch from ${now} - c.refilled_at)::double precision * 1000, 0)`
  return `least(${most}, c.tokens + ${passedMs} / ${refillMs})`
}

/**
 * For `Retry-After`: when one message could go out again.
 * $1 channel, $2 most, $3 refill in ms or null, $4 now.
 */
export const findCapWait = statement(
  'find_cap_wait',
  `select greatest(0, ceil(case when $3::double precision is null
     then extract(epoch from c.window_start + interval '1 hour' - $4::timestamptz)
     else (1 - ${toTokens('$2::integer', '$3::double precision', '$4::timestamptz')})
       * $3::double precision / 1000 end))::integer as wait_seconds
   from {ns}.message_caps c where c.channel = $1`,
)
