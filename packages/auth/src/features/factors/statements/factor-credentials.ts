import type { Row } from '../../../db/database.ts'
import { statement } from '../../../db/statement.ts'
import type { Metadata } from '../../users/metadata.ts'

export interface FactorCredential extends Row {
  readonly web_authn_credential: Metadata
}

/** Of the WebAuthn factors of a user. $1 user. */
export const listFactorCredentials = statement(
  'list_factor_credentials',
  `select web_authn_credential from {ns}.mfa_factors
   where user_id = $1 and factor_type = 'webauthn' and web_authn_credential is not null
   order by created_at, id`,
)
