import { statement } from '../../../db/statement.ts'
import { selectUser, type UserRow } from '../../users/statements/user-row.ts'

/**
 * Converts only letters of ASCII, so that no other character becomes equal to one of them. The result
 * has the collation of the index.
 */
const toLowerCase = (text: string) => `lower(${text}::text collate "C") collate "default"`

/**
 * `id` is the user's ID at the identity provider. Without such an identity, it is a user whom the
 * provider has provisioned with SCIM under that name. A user who has never signed in is also found by
 * the address, which many identity providers let users change: later, it would give the account to
 * someone else.
 */
export const findSsoUser = statement(
  'find_sso_user',
  ['provider', 'id', 'providerId', 'email'],
  `with found as materialized (
     select i.user_id, 1 as rank from {ns}.identities i
     where i.provider = $1 and i.provider_id = $2
     union all
     select s.user_id, 2
     from {ns}.scim_users s
     where s.sso_provider_id = $3 and (s.user_name = $2 or lower(s.user_name) = ${toLowerCase('$2')})
     union all
     select s.user_id, 3
     from {ns}.scim_users s join {ns}.users u on u.id = s.user_id
     where s.sso_provider_id = $3 and lower(s.user_name) = $4 and u.last_sign_in_at is null
       and not exists (select from {ns}.identities i
         where i.user_id = s.user_id and i.provider = $1 and i.provider_id <> lower(s.user_name))
   )
   select ${selectUser('u')}
   from found f join {ns}.users u on u.id = f.user_id
   where u.is_sso_user and u.deleted_at is null
   order by f.rank limit 1`,
).returning<UserRow>()
