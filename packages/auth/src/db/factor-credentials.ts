import type { Metadata } from '../core/metadata.ts'
import type { Row } from './database.ts'
import { statement } from './statement.ts'

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
