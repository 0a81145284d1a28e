import { statement } from '../../../db/statement.ts'

/** Records the use of a DPoP proof. Returns no row if it was used before, on any server. */
export const claimProof = statement(
  'claim_dpop_proof',
  ['key', 'expiresAt'],
  `insert into {ns}.dpop_proofs (key, expires_at) values ($1, $2)
   on conflict do nothing returning true as is_new`,
).returning<{ readonly is_new: boolean }>()
