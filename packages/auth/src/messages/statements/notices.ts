import { insertMessage } from './outbox.ts'
import type { NewMessage } from './request-parts.ts'

/** An email about what a statement has changed, written with it. */
export type Notice = NewMessage

/** For statements that may have some. */
export interface WithNotices {
  /** Undefined: none. */
  readonly notices?: readonly Notice[]
}

/** The column of `p` that `writeNotices` reads. */
export const noticeColumn = 'notices jsonb'

/**
 * Part of a `with`.
 * @param from has the user's row as `u` once all is changed, and nothing otherwise; and `p`.
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

/** The same for one that the statement completes: `notice jsonb` of `p`, a `Notice` or null. */
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
