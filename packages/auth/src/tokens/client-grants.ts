import type { Json, Metadata } from '../stored-json.ts'
import type { Claims } from './json-web-token.ts'

/** What a user has granted to an OAuth client, as the session of the client stores it. */
export interface ClientGrant {
  readonly [name: string]: Json
  /** The public identifier of the client. */
  readonly client_id: string
  /** Separated by spaces. */
  readonly scope: string
  /** The audiences of the access tokens, separated by spaces; empty: the audience of the user. */
  readonly resource: string
  /** The thumbprint of the key to which access tokens are bound. Absent: they are bearer tokens. */
  readonly jkt?: string
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
    user_metadata: withholdMetadata(Object(claims['user_metadata']), grant),
  }
}

/** Providers and sign-ups write the address and the number there as well. */
const metadataOf = {
  email: ['email', 'email_verified'],
  phone: ['phone', 'phone_number', 'phone_verified', 'phone_number_verified'],
} as const

/** The part of the metadata of a user that the scope includes. */
export function withholdMetadata(metadata: Metadata, grant: ClientGrant): Metadata {
  if (!hasScope(grant, 'profile')) return {}
  const withheld = Object.entries(metadataOf).flatMap(([scope, names]) =>
    hasScope(grant, scope) ? [] : names,
  )
  const kept = Object.entries(metadata).filter(([name]) => !withheld.some((each) => each === name))
  return Object.fromEntries(kept)
}

/** The claim `aud`: a text for one audience, a list for several. */
export function toAudience(audiences: string): string | readonly string[] {
  return audiences.includes(' ') ? audiences.split(' ') : audiences
}

/**
 * Adds the claims that restrict an access token to its client and its resource. A hook cannot
 * change them.
 */
export function restrictClaims(claims: Claims, grant: ClientGrant, issuer: string): Claims {
  const { client_id, scope, resource, jkt } = grant
  const { cnf: _, ...others } = claims
  return {
    ...others,
    ...{ iss: issuer, client_id, scope },
    ...(resource !== '' && { aud: toAudience(resource) }),
    ...(jkt !== undefined && { cnf: { jkt } }),
  }
}
