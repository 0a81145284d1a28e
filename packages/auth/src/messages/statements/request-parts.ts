import type { Metadata } from '../../stored-json.ts'
import { spendCap } from './message-caps.ts'
import {
  type CooldownFragments,
  isCooldownOver,
  lockCooldown,
  startCooldown,
} from './message-cooldowns.ts'
import { insertMessage, type MessageChannel } from './outbox.ts'

/**
 * Rows that statements for one request write in addition to their own. Each such statement takes
 * one JSON object, `$1`, whose fields it reads from `p`, because a dozen numbered parameters would
 * be unreadable.
 */
export interface RequestParts {
  readonly now: Date
  readonly ip: string
  readonly audit: NewAuditEntry | readonly NewAuditEntry[]
  readonly token: NewToken | readonly NewToken[] | null
  readonly flow: NewFlow | null
  readonly messages: readonly NewMessage[]
  /** The channel of all messages. Default: email. */
  readonly channel?: MessageChannel
  /** From AUTH_RATE_LIMIT_EMAIL_SENT or AUTH_RATE_LIMIT_SMS_SENT; null: no limit. */
  readonly cap_most: number | null
  readonly cap_refill_ms: number | null
  /**
   * Cooldown key from requests/message-cooldowns.ts, in hexadecimal digits: nothing is written if the
   * address was sent a message within these seconds. Only statements with `permitMessages` check
   * it.
   */
  readonly gap_key?: string | null
  readonly gap_seconds?: number
}

export interface NewAuditEntry {
  readonly id: string
  readonly payload: Metadata
}

/** A one-time token, which replaces one of the same type. */
export interface NewToken {
  readonly token_type: string
  /** In hexadecimal digits, like `otp_hash`. */
  readonly token_hash: string
  readonly otp_hash: string
  readonly relates_to: string
  readonly is_pkce: boolean
  readonly expires_at: Date
  /** Undefined if the user has already proven that they own the account. */
  readonly claim?: AccountClaim
}

/**
 * Data of the request that a token was sent for. If no user has proven yet that they own the
 * account, this data replaces the existing data, which may come from someone else.
 */
export interface AccountClaim {
  /** The hash of the password, as it is stored. Absent: the account has no password afterwards. */
  readonly hash?: string
  /** The metadata of the user. */
  readonly data?: Metadata
  /** The identity at a provider that the user signed in with. */
  readonly identity_id?: string
}

/**
 * For requests that contain no data for the account, such as sign-in and recovery links. Data that
 * was put into an unconfirmed account before is removed when the link is used.
 */
export const claimsNothing: AccountClaim = {}

/** The PKCE flow that a link continues. */
export interface NewFlow {
  readonly id: string
  readonly auth_code: string
  readonly code_challenge: string
  readonly code_challenge_method: string
  readonly authentication_method: string
}

export interface NewMessage {
  readonly kind: string
  readonly recipient: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly expires_in_seconds: number
}

/** The columns of `p` that these parts read. */
export const partColumns = `now timestamptz, ip text, audit jsonb, token jsonb, flow jsonb,
  messages jsonb, channel text, cap_most integer, cap_refill_ms double precision,
  gap_key text, gap_seconds double precision`

/**
 * `cap` has a row if the messages may be sent. Without messages, it always has one.
 * @param condition whether the messages are to be sent; otherwise nothing is subtracted.
 */
export function spendMessages(condition = 'true'): string {
  return spendCap('given', {
    most: 'select case when jsonb_array_length(messages) > 0 then cap_most end from p',
    refillMs: 'select cap_refill_ms from p',
    count: `select case when ${condition} then jsonb_array_length(messages) else 0 end from p`,
    now: 'select now from p',
  })
}

/**
 * The same for messages that any client may request: `permit` has a row if both the cooldown and
 * the cap allow them.
 */
export function permitMessages(condition = 'true'): string {
  const cooldown: CooldownFragments = {
    key: "select decode(gap_key, 'hex') from p",
    seconds: 'select gap_seconds from p',
    now: 'select now from p',
    condition,
  }
  const spent = spendMessages(`(${condition}) and ${isCooldownOver}`)
  return `${lockCooldown(cooldown)}, ${spent}, ${startCooldown(cooldown)}`
}

/**
 * Writes the token, flow, messages and audit entry of a user.
 * @param user the part with the row of the user if everything is allowed; empty otherwise.
 */
export function writeParts(user: string): string {
  return `token_written as (
     insert into {ns}.one_time_tokens as o
       (user_id, token_type, token_hash, otp_hash, relates_to, is_pkce, expires_at, created_at,
         claim)
     select u.id, t.token_type, decode(t.token_hash, 'hex'), decode(t.otp_hash, 'hex'),
       t.relates_to, t.is_pkce, t.expires_at, p.now, t.claim
     from ${user} u cross join p cross join jsonb_to_recordset(${toArray('p.token')}) as t(
       token_type text, token_hash text, otp_hash text, relates_to text, is_pkce boolean,
       expires_at timestamptz, claim jsonb)
     on conflict (user_id, token_type) do update set token_hash = excluded.token_hash,
       otp_hash = excluded.otp_hash, relates_to = excluded.relates_to,
       is_pkce = excluded.is_pkce, attempts = 0, expires_at = excluded.expires_at,
       created_at = excluded.created_at, claim = excluded.claim
   ), flow_written as (
     insert into {ns}.flow_states (id, user_id, auth_code, code_challenge, code_challenge_method,
       authentication_method, created_at)
     select f.id, u.id, f.auth_code, f.code_challenge, f.code_challenge_method,
       f.authentication_method, p.now
     from ${user} u cross join p cross join jsonb_to_record(p.flow) as f(id uuid, auth_code uuid,
       code_challenge text, code_challenge_method text, authentication_method text)
     where jsonb_typeof(p.flow) = 'object'
   ), messages_written as (
     ${insertMessage('given', {
       kind: 'm.kind',
       recipient: 'm.recipient',
       // Metadata that someone else may have put into the account is not sent to the owner of the
       // address.
       payload: `m.payload || jsonb_build_object('Data', case
           when u.email_confirmed_at is null and u.phone_confirmed_at is null and p.token ? 'claim'
           then coalesce(p.token #> '{claim,data}', '{}')
             || coalesce(u.admin_data -> 'user_metadata', '{}')
           else u.raw_user_meta_data end, 'UserID', u.id, 'IP', p.ip)`,
       expiresInSeconds: 'm.expires_in_seconds',
       from: `${user} u cross join p cross join jsonb_to_recordset(p.messages) as m(kind text,
         recipient text, payload jsonb, expires_in_seconds double precision)`,
     })}
   ), audit_written as (
     insert into {ns}.audit_log_entries (id, payload, ip_address, created_at)
     select a.id, a.payload, p.ip, p.now
     from ${user} u cross join p cross join jsonb_to_recordset(${toArray('p.audit')}) as a(
       id uuid, payload jsonb)
   )`
}

/** Accepts one value, several or none. */
function toArray(value: string): string {
  return `case jsonb_typeof(${value}) when 'array' then ${value}
       when 'object' then jsonb_build_array(${value}) else '[]' end`
}

/** An email about a change, written by the statement that makes the change. */
export type Notice = NewMessage

/** For statements that may write notices. */
export interface WithNotices {
  /** Undefined: none. */
  readonly notices?: readonly Notice[]
}

/** The column of `p` that `writeNotices` reads. */
export const noticeColumn = 'notices jsonb'

/**
 * A part of a `with`.
 * @param from has the row of the user as `u` if everything was changed, no row otherwise; and `p`.
 */
export function writeNotices(from: string): string {
  return `notices_written as (
     ${insertMessage('email', {
       kind: 'm.kind',
       recipient: 'm.recipient',
       payload: `m.payload || ${common}`,
       expiresInSeconds: 'm.expires_in_seconds',
       from: `${from} cross join jsonb_to_recordset(coalesce(p.notices, '[]')) as m(kind text,
         recipient text, payload jsonb, expires_in_seconds double precision)`,
     })}
   )`
}

/**
 * The same for one notice whose recipient and variables the statement adds: `notice jsonb` of `p`,
 * the other fields of a `Notice`, or null.
 * @param from has the row of the user as `u`, the row before the change as `o`, and `p`.
 */
export function completeNotice(recipient: string, facts: string, from: string): string {
  return `notice_written as (
       ${insertMessage('email', {
         kind: 'm.kind',
         recipient,
         payload: `m.payload || ${common} || ${facts}`,
         expiresInSeconds: 'm.expires_in_seconds',
         from: `${from} cross join jsonb_to_record(p.notice) as m(kind text, payload jsonb,
           expires_in_seconds double precision)
         where jsonb_typeof(p.notice) = 'object' and o.email_confirmed_at is not null
           and ${recipient} is not null`,
       })}
     )`
}

const common = "jsonb_build_object('Data', u.raw_user_meta_data, 'UserID', u.id, 'IP', p.ip)"
