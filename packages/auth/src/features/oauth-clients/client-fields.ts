import { invalid } from '../../errors.ts'
import { isStorableText } from '../../stored-json.ts'
import { isDangerousScheme, isLoopback } from '../redirects/redirects.ts'

/** By type of client: how it can authenticate. The first method is the default. */
const methodsByType = {
  confidential: ['client_secret_basic', 'client_secret_post'],
  public: ['none'],
} as const

export type ClientType = keyof typeof methodsByType
export type AuthMethod = (typeof methodsByType)[ClientType][number]

const clientTypes = ['public', 'confidential'] as const
const authMethods: readonly AuthMethod[] = [...methodsByType.public, ...methodsByType.confidential]

/** A grant of the token endpoint, for which clients can register. */
export interface GrantType {
  /** The value of the parameter `grant_type`. */
  readonly name: string
  /**
   * Whether the grant gives tokens without the consent of a user: the client must prove who it is, and
   * an administrator must have registered it.
   */
  readonly isTrusted: boolean
}

/** The fields of a request. Names, limits and messages are those of Supabase Auth. */
export interface ClientFields {
  readonly redirect_uris?: readonly string[]
  readonly grant_types?: readonly string[]
  readonly token_endpoint_auth_method?: string
  readonly client_name?: string
  readonly client_uri?: string
  readonly logo_uri?: string
  /** The scopes that the client may request, separated by spaces. Empty: all. */
  readonly scope?: string
  /** Whether the client only gets access tokens that are bound to a key (RFC 9449, section 5.2). */
  readonly dpop_bound_access_tokens?: boolean
}

/** Checks the fields that are present. @throws {ApiError} */
export function checkClientFields(fields: ClientFields, grantTypes: readonly GrantType[]): void {
  const { redirect_uris: redirectUris, grant_types: grants, client_name: name = '' } = fields
  if (redirectUris !== undefined) checkRedirectUris(redirectUris, grants)
  if (grants !== undefined) checkGrantTypes(grants, grantTypes)
  if (name.length > 1_024) throw invalid('client_name cannot exceed 1024 characters')
  if (!isStorableText(name)) throw invalid('client_name has a character that cannot be stored')
  checkPageUrl('client_uri', fields.client_uri)
  checkPageUrl('logo_uri', fields.logo_uri)
  if (!/^[\x21\x23-\x5b\x5d-\x7e ]{0,1024}$/.test(fields.scope ?? '')) {
    throw invalid('scope must consist of scopes separated by spaces, in at most 1024 characters')
  }
}

function checkRedirectUris(uris: readonly string[], grants: readonly string[] | undefined): void {
  const isRedirected = grants === undefined || grants.includes('authorization_code')
  if (uris.length === 0 && isRedirected) throw invalid('redirect_uris cannot be empty')
  if (uris.length > 10) throw invalid('redirect_uris cannot exceed 10 items')
  for (const uri of uris) {
    const fault = findRedirectFault(uri)
    if (fault !== undefined) throw invalid(`invalid redirect_uri '${uri}': ${fault}`)
  }
}

/** Custom schemes of apps are allowed. See RFC 6749, section 3.1.2. */
function findRedirectFault(uri: string): string | undefined {
  if (uri === '') return 'redirect URI cannot be empty'
  if (uri.length > 2_048) return 'redirect URI cannot exceed 2048 characters'
  const [scheme = ''] = uri.split(':', 1)
  if (isDangerousScheme(`${scheme.toLowerCase()}:`)) {
    return `scheme '${scheme}' is not allowed for security reasons`
  }
  // The URL parser removes line breaks and tabs and replaces backslashes, so the registered text
  // would differ from the URL that browsers open.
  if (/[\s\\\p{Cc}]/u.test(uri) || !uri.isWellFormed()) return 'invalid URL format'
  if (!/^[a-z][a-z\d+.-]*:\/\/[^/?#]/i.test(uri) || !URL.canParse(uri)) {
    return 'must have scheme and host'
  }
  const url = new URL(uri)
  if (url.protocol === 'http:' && !isLoopback(url)) {
    return 'HTTP scheme only allowed for localhost'
  }
  return uri.includes('#') ? 'fragment not allowed in redirect URI' : undefined
}

function checkGrantTypes(types: readonly string[], grantTypes: readonly GrantType[]): void {
  if (types.length === 0) throw invalid('grant_types cannot be empty')
  const known = grantTypes.map(({ name }) => name)
  if (types.every((type) => known.includes(type))) return
  throw invalid(`grant_types must only contain ${known.join(', ')}`)
}

/** The first of the names that is the name of a trusted grant. */
export function findTrustedGrant(
  names: readonly string[],
  grantTypes: readonly GrantType[],
): string | undefined {
  return names.find((name) => grantTypes.some((type) => type.isTrusted && type.name === name))
}

/** @throws {ApiError} */
export function checkGrantsOf(
  clientType: ClientType,
  grants: readonly string[],
  grantTypes: readonly GrantType[],
): void {
  const trusted = findTrustedGrant(grants, grantTypes)
  if (clientType === 'confidential' || trusted === undefined) return
  throw invalid(`The grant type ${trusted} needs a confidential client`)
}

/** Consent pages link to these URLs, so only web URLs are allowed. */
function checkPageUrl(name: string, url = ''): void {
  if (url === '') return
  if (url.length > 2_048) throw invalid(`${name} cannot exceed 2048 characters`)
  if (!/^https?:\/\/[^\s\\\p{Cc}]+$/iu.test(url) || !url.isWellFormed() || !URL.canParse(url)) {
    throw invalid(`${name} must be a valid URL`)
  }
}

interface ClientKind {
  readonly clientType: ClientType
  readonly authMethod: AuthMethod
}

/** If only the type or only the method is given, it determines the other one. @throws {ApiError} */
export function parseClientKind(type = '', method = ''): ClientKind {
  const givenType = clientTypes.find((known) => known === type)
  if (type !== '' && givenType === undefined) {
    throw invalid("client_type must be 'public' or 'confidential'")
  }
  if (method === '') {
    const clientType = givenType ?? 'confidential'
    return { clientType, authMethod: methodsByType[clientType][0] }
  }
  const authMethod = parseAuthMethod(method)
  const clientType = toClientType(authMethod)
  if (givenType !== undefined && givenType !== clientType) {
    throw invalid(
      `client_type '${type}' is inconsistent with token_endpoint_auth_method '${method}' (expected client_type '${clientType}')`,
    )
  }
  return { clientType, authMethod }
}

/** The type of a client cannot change, because only confidential clients have a secret. @throws {ApiError} */
export function parseMethodFor(clientType: ClientType, method: string): AuthMethod {
  const authMethod = parseAuthMethod(method)
  if (toClientType(authMethod) === clientType) return authMethod
  const valid = methodsByType[clientType].join(', ')
  throw invalid(
    `token_endpoint_auth_method '${method}' is not valid for client_type '${clientType}'; valid methods: ${valid}`,
  )
}

function parseAuthMethod(text: string): AuthMethod {
  const method = authMethods.find((known) => known === text)
  if (method !== undefined) return method
  throw invalid(`token_endpoint_auth_method must be one of: ${authMethods.join(', ')}`)
}

function toClientType(method: AuthMethod): ClientType {
  return method === 'none' ? 'public' : 'confidential'
}
