import type { Row } from '../../db/database.ts'
import { type NamedValues, statement } from '../../db/statement.ts'
import { spendCap, toCapWait, toRoom } from './message-caps.ts'
import { insertMessage, type MessageChannel } from './outbox.ts'

/** SQL fragments about one cooldown. The table of cooldowns is called `message_gaps`. */
export interface CooldownFragments {
  /** Cooldown key from requests/message-cooldowns.ts, as bytes; null when no cooldown applies. */
  readonly key: string
  readonly seconds: string
  readonly now: string
  /** Whether a message is requested at all. */
  readonly condition: string
}

/**
 * Whether the last message is too recent. A time in the future by more than the cooldown comes from
 * a clock that has since been set back, and is ignored.
 */
function isTooRecent(now: string, seconds: string): string {
  const interval = `make_interval(secs => (${seconds}))`
  return `(g.sent_at > (${now}) - ${interval} and g.sent_at <= (${now}) + ${interval})`
}

/**
 * `gap` has the row of the address, if there is one. The row is locked, so that one of several
 * concurrent requests proceeds and the others see its result. To avoid deadlocks, it is locked
 * after the user and before the cap.
 */
export function lockCooldown({ key, seconds, now, condition }: CooldownFragments): string {
  return `gap as materialized (
     select g.key, ${isTooRecent(now, seconds)} as is_closed
     from {ns}.message_gaps g
     where g.key = (${key}) and (${condition})
     for update of g
   )`
}

export const isCooldownOver = 'not exists (select from gap where is_closed)'

/**
 * `permit` has a row if both the cooldown and the cap allow a message, and then the cooldown
 * restarts. If two requests both see no row of the address, only one can insert it: the other
 * violates `message_gaps_pkey` and is rolled back completely, including what it took from the cap.
 */
export function startCooldown({ key, now, condition }: CooldownFragments): string {
  return `permit as materialized (
     select 1 as allowed from cap where ${isCooldownOver}
   ), gap_moved as (
     update {ns}.message_gaps g set sent_at = (${now})
     from gap cross join permit where g.key = gap.key
   ), gap_begun as (
     insert into {ns}.message_gaps (key, sent_at)
     select key, (${now}) from (select (${key}) as key) asked cross join permit
     where key is not null and (${condition}) and not exists (select from gap)
   )`
}

/** The first parameters of statements with `takePermit`, in this order. The key may be null. */
const permitParameters = ['most', 'refillMs', 'now', 'gap_key', 'gap_seconds'] as const
export type PermitValues = NamedValues<(typeof permitParameters)[number]>

/**
 * `permit` for a request that does not send a message now. It takes as long as one that does and
 * starts the cooldown as well, so that neither reveals whether a message was sent. The cap is only
 * checked.
 */
function takePermit(channel: MessageChannel): string {
  const cooldown: CooldownFragments = {
    key: "decode($4::text, 'hex')",
    seconds: '$5::double precision',
    now: '$3::timestamptz',
    condition: 'true',
  }
  return `${lockCooldown(cooldown)}, ${spendCap(channel, { most: '$1', refillMs: '$2', count: '0', now: '$3' })},
   ${startCooldown(cooldown)}`
}

interface MessageWait extends Row {
  /** Seconds until the cooldown ends; null if it has ended. */
  readonly gap_seconds: number | null
  /** Seconds until the cap allows another message. */
  readonly cap_seconds: number | null
  readonly has_room: boolean
}

/** Returns why no message was allowed. */
export const findMessageWait = statement(
  'find_message_wait',
  ['channel', ...permitParameters],
  `select
     (select greatest(1, ceil(extract(epoch from
         g.sent_at + make_interval(secs => $6::double precision) - $4::timestamptz)))::integer
       from {ns}.message_gaps g
       where g.key = decode($5::text, 'hex')
         and ${isTooRecent('$4::timestamptz', '$6::double precision')}
     ) as gap_seconds,
     ${toCapWait('$2::integer', '$3::double precision', '$4::timestamptz')} as cap_seconds,
     coalesce(${toRoom('$2::integer', '$3::double precision', '$4::timestamptz')}, $2::integer)
       >= 1 as has_room
   from (select $1::text as channel) asked
     left join {ns}.message_caps c on c.channel = asked.channel`,
).returning<MessageWait>()

/** Returns a row if another email may be sent, by the cooldown of the address and by the cap. */
export const takeEmailPermit = statement(
  'ask_email_cap',
  permitParameters,
  `with ${takePermit('email')} select 1 as has_room from permit`,
)

/**
 * Returns a row if another text message may be sent, by the cooldown of the number and by the cap.
 */
export const takeSmsPermit = statement(
  'ask_sms_cap',
  permitParameters,
  `with ${takePermit('sms')} select 1 as has_room from permit`,
)

/** The kind of a deferred request. */
export type DeferredKind =
  | 'recovery'
  | 'magic_link'
  | 'resend_signup'
  | 'resend_email_change'
  | 'phone_otp'
  | 'resend_sms'
  | 'resend_phone_change'

/**
 * Stores a request for a message whether a recipient exists or not; the sender of the outbox looks
 * up the recipient. Returns a row if a message may be sent, by cooldown and cap; otherwise nothing
 * is written.
 */
const createDeferStatement = (channel: 'email' | 'sms') =>
  statement(
    `defer_${channel}`,
    [...permitParameters, 'kind', 'recipient', 'request', 'expiresInSeconds'],
    `with ${takePermit(channel)}, deferred as (
       ${insertMessage('request', {
         kind: '$6::text',
         recipient: '$7::text',
         payload: '$8::jsonb',
         expiresInSeconds: '$9::double precision',
         from: 'permit',
       })}
     )
     select 1 as has_room from permit`,
  )

export const deferEmail = createDeferStatement('email')
export const deferText = createDeferStatement('sms')
