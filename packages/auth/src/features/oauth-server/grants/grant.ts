import type { Services } from '../../../services.ts'
import type { OAuthClientRow } from '../../oauth-clients/statements.ts'
import type { Client } from '../../sessions/sessions.ts'

/** A request to the token endpoint of a client that has authenticated. */
export interface GrantRequest {
  readonly client: OAuthClientRow
  /** The parameters of the body. An absent one is undefined, and so is an empty one. */
  readonly parameters: Readonly<Record<string, string | undefined>>
  readonly connection: Client
  /** The thumbprint of the key that has proven itself (DPoP). Undefined: the client gets bearer tokens. */
  readonly proofKey: string | undefined
}

/** RFC 6750 and RFC 9449, section 5. */
type TokenType = 'bearer' | 'DPoP'

export function toTokenType(proofKey: string | undefined): TokenType {
  return proofKey === undefined ? 'bearer' : 'DPoP'
}

/** The claim that binds an access token to a key. */
export function toConfirmation(proofKey: string | undefined) {
  return proofKey === undefined ? {} : { cnf: { jkt: proofKey } }
}

/** The response of RFC 6749, section 5.1. */
export interface TokenAnswer {
  readonly access_token: string
  readonly token_type: TokenType
  readonly expires_in: number
  readonly refresh_token?: string
  readonly id_token?: string
  readonly scope: string
  /** Token exchange only (RFC 8693, section 2.2.1). */
  readonly issued_token_type?: string
}

export interface Granted {
  readonly answer: TokenAnswer
  /** Called when the response was sent. */
  readonly onSent?: () => void
}

/** @throws {ApiError} */
export type Grant = (services: Services, request: GrantRequest) => Promise<Granted>
