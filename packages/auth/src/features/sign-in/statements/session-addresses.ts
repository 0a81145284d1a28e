import type { Row } from '../../../db/database.ts'
import { statement } from '../../../db/statement.ts'

export interface AddressRow extends Row {
  readonly ip: string
}

/** Where an account was last used, by its latest sessions. Its name is the address or the number. */
export const findSessionAddresses = statement(
  'find_session_addresses',
  ['name', 'audience'],
  `select distinct s.ip from (
     select s.ip from (
       select id from {ns}.users
       where email = $1 and aud = $2 and not is_sso_user and deleted_at is null
       union
       select id from {ns}.users where phone = $1 and aud = $2 and deleted_at is null
     ) u join {ns}.sessions s on s.user_id = u.id
     order by s.created_at desc limit 100
   ) s where s.ip is not null`,
).returning<AddressRow>()
