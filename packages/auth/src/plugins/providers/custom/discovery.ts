import type { ProviderHttp } from '../oauth/provider-http.ts'

/** The part of a document of OpenID Connect Discovery that is used and stored. */
export interface Discovery {
  readonly issuer: string
  readonly authorization_endpoint: string
  readonly token_endpoint: string
  readonly jwks_uri: string
  readonly userinfo_endpoint?: string
  readonly scopes_supported?: readonly string[]
  /** RFC 9207: whether the provider sends `iss` with every code. */
  readonly authorization_response_iss_parameter_supported?: boolean
}

/** A document is invalid, or names another issuer. The message is sent to administrators. */
export class DiscoveryError extends Error {
  override readonly name = 'DiscoveryError'
}

export function toDiscoveryUrl(issuer: string): string {
  return `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`
}

/**
 * Fetches the document and checks that it is that of the issuer.
 * @param findUrlFault returns why a URL must not be used.
 * @throws {DiscoveryError}
 * @throws {OutgoingError} if the document cannot be fetched.
 */
export async function fetchDiscovery(
  http: ProviderHttp,
  { url, issuer }: { readonly url: string; readonly issuer: string },
  findUrlFault: (url: string) => string | undefined,
): Promise<Discovery> {
  const document = await http.fetchObject(url)
  // OpenID Connect Discovery, section 4.3: otherwise one provider could pose as another.
  if (document['issuer'] !== issuer) {
    throw new DiscoveryError('the document is that of another issuer')
  }
  const readUrl = (name: string) => {
    const value = document[name]
    if (typeof value !== 'string' || value === '') throw new DiscoveryError(`${name} is missing`)
    const fault = findUrlFault(value)
    if (fault !== undefined) throw new DiscoveryError(`${name} ${fault}`)
    return value
  }
  const { userinfo_endpoint: userinfo, scopes_supported: scopes } = document
  return {
    issuer,
    authorization_endpoint: readUrl('authorization_endpoint'),
    token_endpoint: readUrl('token_endpoint'),
    jwks_uri: readUrl('jwks_uri'),
    ...(userinfo !== undefined && { userinfo_endpoint: readUrl('userinfo_endpoint') }),
    ...(Array.isArray(scopes) && {
      scopes_supported: scopes.filter((scope) => typeof scope === 'string').slice(0, 200),
    }),
    ...(document['authorization_response_iss_parameter_supported'] === true && {
      authorization_response_iss_parameter_supported: true,
    }),
  }
}
