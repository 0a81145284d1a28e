import { statement } from '../../../db/statement.ts'
import { selectUser, type UserRow } from './user-row.ts'

export const findUserById = statement(
  'find_user_by_id',
  ['id'],
  `select ${selectUser('u')} from {ns}.users u where u.id = $1`,
).returning<UserRow>()

export const findUserByEmail = statement(
  'find_user_by_email',
  ['email', 'audience'],
  `select ${selectUser('u')} from {ns}.users u
    where u.email = $1 and u.aud = $2 and not u.is_sso_user and u.deleted_at is null`,
).returning<UserRow>()

export const findUserByPhone = statement(
  'find_user_by_phone',
  ['phone', 'audience'],
  `select ${selectUser('u')} from {ns}.users u
    where u.phone = $1 and u.aud = $2 and u.deleted_at is null`,
).returning<UserRow>()
