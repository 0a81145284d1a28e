import { statement } from '../../../db/statement.ts'
import { selectUser, type UserRow } from '../../users/statements/user-row.ts'

/**
 * `id` is the user's ID at the identity provider. Without such an identity, it is a user whom the
 * provider has provisioned with SCIM under that name or address.
 */
export const findSsoUser = statement(
  'find_sso_user',
  ['provider', 'id', 'providerId', 'email'],
  `with found as materialized (
     select i.user_id, 1 as rank from {ns}.identities i
     where i.provider = $1 and i.provider_id = $2
     union all
     select s.user_id, case when lower(s.user_name) = lower($2) then 2 else 3 end
     from {ns}.scim_users s
     where s.sso_provider_id = $3 and lower(s.user_name) in (lower($2), lower($4))
   )
   select ${selectUser('u')}
   from found f join {ns}.users u on u.id = f.user_id
   where u.is_sso_user and u.deleted_at is null
   order by f.rank limit 1`,
).returning<UserRow>()
