import { object, statement } from '../../db/statement.ts'
import { selectUser, type UserRow } from '../../features/users/statements/user-row.ts'
import type { Metadata } from '../../stored-json.ts'
import { partColumns, permitMessages, type RequestParts, writeParts } from './request-parts.ts'

/** Columns with the time of the last message of a kind. */
export type SentColumn =
  | 'confirmation_sent_at'
  | 'recovery_sent_at'
  | 'reauthentication_sent_at'
  | 'email_change_sent_at'

export interface MessageRequest extends RequestParts {
  readonly user_id: string
  /** The minimum interval since the time in the user's column; null if there is none. */
  readonly own_gap_seconds: number | null
  /** Set if the user is invited. */
  readonly invited_at: Date | null
  /** Metadata of the invitation, which is kept when the user proves that they own the account. */
  readonly admin_metadata?: Metadata
}

/**
 * Sends a message to an existing user. Returns no row if the previous message is too recent or the
 * cap is reached; then nothing was written.
 */
const toStatement = (column: SentColumn) =>
  statement(
    `request_${column}`,
    object<MessageRequest>(),
    `with p as materialized (
       select * from jsonb_to_record($1::jsonb) as p(user_id uuid, own_gap_seconds double precision,
         invited_at timestamptz, admin_metadata jsonb, ${partColumns})
     ), due as materialized (
       select u.id from {ns}.users u cross join p
       where u.id = p.user_id and (nullif(p.own_gap_seconds, 0) is null or u.${column} is null
         or u.${column} <= p.now - make_interval(secs => p.own_gap_seconds))
       for update of u
     ), ${permitMessages('exists (select from due)')}, requested as (
       update {ns}.users u set ${column} = p.now, updated_at = p.now,
         invited_at = coalesce(p.invited_at, u.invited_at),
         admin_data = case when p.admin_metadata is null or u.phone_confirmed_at is not null
           then u.admin_data
           else coalesce(u.admin_data, '{}') || jsonb_build_object('user_metadata',
             coalesce(u.admin_data -> 'user_metadata', '{}') || p.admin_metadata) end
       from due cross join p cross join permit
       where u.id = due.id
       returning u.*
     ), ${writeParts('requested')}
     select ${selectUser('u')} from requested u`,
  ).returning<UserRow>()

export const messageRequests = {
  confirmation_sent_at: toStatement('confirmation_sent_at'),
  recovery_sent_at: toStatement('recovery_sent_at'),
  reauthentication_sent_at: toStatement('reauthentication_sent_at'),
} as const
