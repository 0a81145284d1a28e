import { statement } from '../../../db/statement.ts'
import { selectUser, type UserRow } from '../../users/statements/user-row.ts'

/** `id` is the user's ID at the identity provider. */
export const findSsoUser = statement(
  'find_sso_user',
  ['provider', 'id'],
  `select ${selectUser('u')}
   from {ns}.identities i join {ns}.users u on u.id = i.user_id
   where i.provider = $1 and i.provider_id = $2 and u.is_sso_user and u.deleted_at is null`,
).returning<UserRow>()
