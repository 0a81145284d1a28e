import type { Row } from '../../db/database.ts'
import { type NamedValues, statement } from '../../db/statement.ts'
import { spendCap, toCapWait, toRoom } from './message-caps.ts'
import { insertMessage, type MessageChannel } from './outbox.ts'

/** Each a piece of SQL. */
export interface GapRequest {
  /** Cooldown key from requests/message-gaps.ts, as bytes; null when no cooldown applies. */
  readonly key: string
  readonly seconds: string
  readonly now: string
  /** Whether a message is asked for at all. */
  readonly condition: string
}

/**
 * Whether the last message is too recent. One of the future, by more than the gap, was sent by a clock
 * that has since been set back: nobody waits for that.
 */
function isTooRecent(now: string, seconds: string): string {
  const gap = `make_interval(secs => (${seconds}))`
  return `(g.sent_at > (${now}) - ${gap} and g.sent_at <= (${now}) + ${gap})`
}

/**
 * `gap` has the row of the address where there is one, locked: of several requests one goes on, and
 * the others see what it has left. It comes after the user and before the cap.
 */
export function lockGap({ key, seconds, now, condition }: GapRequest): string {
  return `gap as materialized (
     select g.key, ${isTooRecent(now, seconds)} as is_closed
     from {ns}.message_gaps g
     where g.key = (${key}) and (${condition})
     for update of g
   )`
}

export const isGapOpen = 'not exists (select from gap where is_closed)'

/**
 * `permit` has a row where both the gap and the cap let a message pass, and then the gap begins anew.
 * Two requests that both see no row of the address cannot both write it: one of them violates
 * `message_gaps_pkey`, and nothing of it remains, not even what it took from the cap.
 */
export function takeGap({ key, now, condition }: GapRequest): string {
  return `permit as materialized (
     select 1 as allowed from cap where ${isGapOpen}
   ), gap_moved as (
     update {ns}.message_gaps g set sent_at = (${now})
     from gap cross join permit where g.key = gap.key
   ), gap_begun as (
     insert into {ns}.message_gaps (key, sent_at)
     select key, (${now}) from (select (${key}) as key) asked cross join permit
     where key is not null and (${condition}) and not exists (select from gap)
   )`
}

/** The parameters of a statement that `askPermit` reads, in this order. The key may be null. */
const permitParameters = ['most', 'refillMs', 'now', 'gap_key', 'gap_seconds'] as const
export type PermitValues = NamedValues<(typeof permitParameters)[number]>

/**
 * `permit` where a message that is not sent would be permitted: it costs what sending one does and lets
 * as much time pass before the next, so neither reveals whether a message was sent.
 */
function askPermit(channel: MessageChannel): string {
  const gap: GapRequest = {
    key: "decode($4::text, 'hex')",
    seconds: '$5::double precision',
    now: '$3::timestamptz',
    condition: 'true',
  }
  return `${lockGap(gap)}, ${spendCap(channel, { most: '$1', refillMs: '$2', count: '0', now: '$3' })},
   ${takeGap(gap)}`
}

interface MessageWait extends Row {
  /** Until the gap is over; null: it is. */
  readonly gap_seconds: number | null
  /** Until one more message could go out, where none can now. */
  readonly cap_seconds: number | null
  readonly has_room: boolean
}

/** Why no message was permitted. */
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

/** A row where another email could go out, to that address and at all. */
export const askEmailCap = statement(
  'ask_email_cap',
  permitParameters,
  `with ${askPermit('email')} select 1 as has_room from permit`,
)

/** A row where another text message could go out, to that number and at all. */
export const askSmsCap = statement(
  'ask_sms_cap',
  permitParameters,
  `with ${askPermit('sms')} select 1 as has_room from permit`,
)

/** What a request asks for. */
export type DeferredKind =
  | 'recovery'
  | 'magic_link'
  | 'resend_signup'
  | 'resend_email_change'
  | 'phone_otp'
  | 'resend_sms'
  | 'resend_phone_change'

/**
 * Takes down a request for a message, whether there is anybody to send it to or not: looking for them
 * is left to whoever empties the outbox. A row where a message could go out, to that address and at
 * all; otherwise nothing is written.
 */
const toStatement = (channel: 'email' | 'sms') =>
  statement(
    `defer_${channel}`,
    [...permitParameters, 'kind', 'recipient', 'request', 'expiresInSeconds'],
    `with ${askPermit(channel)}, deferred as (
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

export const deferEmail = toStatement('email')
export const deferText = toStatement('sms')
