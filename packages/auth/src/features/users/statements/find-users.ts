import { statement } from '../../../db/statement.ts'
import { selectUser } from './user-row.ts'

export const findUserById = statement(
  'find_user_by_id',
  `select ${selectUser('u')} from {ns}.users u where u.id = $1`,
)

export const findUserByEmail = statement(
  'find_user_by_email',
  `select ${selectUser('u')} from {ns}.users u
    where u.email = $1 and u.aud = $2 and not u.is_sso_user and u.deleted_at is null`,
)

export const findUserByPhone = statement(
  'find_user_by_phone',
  `select ${selectUser('u')} from {ns}.users u
    where u.phone = $1 and u.aud = $2 and u.deleted_at is null`,
)

/**
 * The owner of an access token, and the session it belongs to. One statement for every request of a
 * signed-in user.
 * $1 user, $2 session or null.
 */
export const findCaller = statement(
  'find_caller',
  `select ${selectUser('u')},
     s.id as session_id, s.aal, s.is_recovery, s.revoked_at as session_revoked_at,
     s.created_at as session_created_at, s.refreshed_at as session_refreshed_at,
     s.not_after as session_not_after, s.amr as session_amr
   from {ns}.users u left join {ns}.sessions s on s.id = $2 and s.user_id = u.id
   where u.id = $1`,
)
