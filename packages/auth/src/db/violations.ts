import { DatabaseError } from 'pg'

/** Whether a statement failed because a value of that unique index is there already. */
export function isTaken(
  error: unknown,
  index:
    | 'users_email'
    | 'users_phone'
    | 'users_pkey'
    | 'identities_provider_provider_id_key'
    | 'mfa_factors_name'
    | 'mfa_factors_phone'
    | 'mfa_factors_recovery'
    | 'webauthn_credentials_credential_id'
    | 'message_gaps_pkey',
): boolean {
  return error instanceof DatabaseError && error.code === '23505' && error.constraint === index
}
