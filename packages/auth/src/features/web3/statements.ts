import type { Row } from '../../db/database.ts'
import { statement } from '../../db/statement.ts'

interface ClaimedMessage extends Row {
  /** False when the same message or nonce was used before. */
  readonly is_new: boolean
  /** The form of the ID under which the identity is stored; null when the wallet is unknown. */
  readonly known_id: string | null
}

/** Uses up a signed message, so that it signs in only once. */
export const claimWeb3Message = statement(
  'claim_web3_message',
  ['key', 'expiresAt', 'provider', 'ids'],
  `with claimed as (
     insert into {ns}.web3_messages (key, expires_at) values ($1, $2)
     on conflict do nothing returning key
   )
   select exists (select from claimed) as is_new, (
     select i.provider_id from {ns}.identities i
     where i.provider = $3 and i.provider_id = any($4::text[])
     order by i.created_at, i.provider_id limit 1
   ) as known_id`,
).returning<ClaimedMessage>()
