import type { Row } from './database.ts'
import { statement } from './statement.ts'

export interface AddressRow extends Row {
  readonly ip: string
}

/**
 * Where an account was last used, by its latest sessions. $1 email address or phone number, $2 audience.
 */
export const findSessionAddresses = statement(
  'find_session_addresses',
  `select distinct s.ip from (
     select s.ip from {ns}.sessions s join {ns}.users u on u.id = s.user_id
     where (u.email = $1 or u.phone = $1) and u.aud = $2 and u.deleted_at is null
     order by s.created_at desc limit 100
   ) s where s.ip is not null`,
)
