import type { Claims } from '../../tokens/json-web-token.ts'
import type { Json } from '../users/metadata.ts'

/** What a user has granted to an OAuth client, as the session of the client stores it. */
export interface ClientGrant {
  readonly [name: string]: Json
  /** The public identifier of the client. */
  readonly client_id: string
  /** Separated by spaces. */
  readonly scope: string
  /** The audience of the access tokens; empty: the audience of the user. */
  readonly resource: string
}

/** An OAuth client that presents a refresh token. */
export interface GrantHolder {
  /** The ID of its row. */
  readonly clientId: string
  /** The grant of the new access token, which may be narrower. @throws {ApiError} */
  narrow(grant: ClientGrant): ClientGrant
}

export function hasScope({ scope }: Pick<ClientGrant, 'scope'>, name: string): boolean {
  return scope.split(' ').includes(name)
}

/**
 * Removes the data of the user that the scope does not include. The claims stay present, because
 * programs rely on them. app_metadata stays as well: APIs base permissions on it.
 */
export function withholdClaims(claims: Claims, grant: ClientGrant): Claims {
  return {
    ...claims,
    ...(!hasScope(grant, 'email') && { email: '' }),
    ...(!hasScope(grant, 'phone') && { phone: '' }),
    ...(!hasScope(grant, 'profile') && { user_metadata: {} }),
  }
}

/**
 * Adds the claims that restrict an access token to its client and its resource. A hook cannot
 * change them.
 */
export function restrictClaims(claims: Claims, grant: ClientGrant, issuer: string): Claims {
  const { client_id, scope, resource } = grant
  return { ...claims, iss: issuer, client_id, scope, ...(resource !== '' && { aud: resource }) }
}
