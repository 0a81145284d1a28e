import type { OAuthServerConfig } from '../../config/oauth-server.ts'
import type { Services } from '../../services.ts'
import type { OAuthClientRow } from '../oauth-clients/statements.ts'
import { isLoopback } from '../redirects/redirects.ts'
import { oauthError } from './oauth-error.ts'

/** Scopes about the user, with what the consent page says about them. */
export const userScopes: Readonly<Record<string, string>> = {
  openid: 'Know who you are',
  profile: 'See your name, your picture and the rest of your profile',
  email: 'See your email address',
  phone: 'See your phone number',
  offline_access: 'Keep access while you are not using it',
}

export function toScopes(text: string): readonly string[] {
  return [...new Set(text.split(' ').filter((scope) => scope !== ''))]
}

/** All scopes that clients can request from this server. */
export function listScopes({ config, signingKeys }: Services): readonly string[] {
  const known = Object.keys(userScopes).filter(
    (scope) => scope !== 'openid' || signingKeys.signing.algorithm !== 'HS256',
  )
  return [...known, ...config.oauthServer.scopes]
}

/** Returns the scopes of a request, separated by spaces. @throws {ApiError} */
export function parseScope(services: Services, client: OAuthClientRow, text: string): string {
  const scopes = toScopes(text || services.config.oauthServer.defaultScope)
  const { algorithm } = services.signingKeys.signing
  if (scopes.includes('openid') && algorithm === 'HS256') {
    throw oauthError(
      'invalid_scope',
      'This server signs tokens with a shared secret, so it cannot issue ID tokens. Do not request the scope ' +
        'openid, or have the operator set AUTH_JWT_KEYS to a key that signs with ES256, RS256 or EdDSA',
    )
  }
  const known = listScopes(services)
  const unknown = scopes.find((scope) => !known.includes(scope))
  if (unknown !== undefined) throw oauthError('invalid_scope', `unsupported scope: ${unknown}`)
  const allowed = toScopes(client.scope)
  const excess = scopes.find((scope) => allowed.length > 0 && !allowed.includes(scope))
  if (excess === undefined) return scopes.join(' ')
  throw oauthError('invalid_scope', `The client may not request the scope ${excess}`)
}

/** Returns the requested part of a granted scope; all of it if none is requested. @throws {ApiError} */
export function narrowScope(granted: string, requested: string | undefined = ''): string {
  const scopes = toScopes(requested)
  if (scopes.length === 0) return granted
  const excess = scopes.find((scope) => !toScopes(granted).includes(scope))
  if (excess === undefined) return scopes.join(' ')
  throw oauthError('invalid_scope', `The scope ${excess} was not granted`)
}

const longestResource = 1_024

const mostResources = 10

/**
 * Checks the resource indicators of a request (RFC 8707), which become the audience of the access token.
 * @param text the values of all parameters `resource`, separated by spaces.
 * @returns each of them once, in the same form; empty if there are none.
 * @throws {ApiError}
 */
export function parseResources(config: OAuthServerConfig, text = ''): string {
  const resources = toResources(text)
  if (resources.length > mostResources) {
    throw oauthError('invalid_target', `at most ${mostResources} resources can be requested`)
  }
  for (const resource of resources) checkResource(config, resource)
  return resources.join(' ')
}

/** Returns the requested part of the granted resources; all of them if none is requested. @throws {ApiError} */
export function narrowResources(granted: string, requested: string | undefined = ''): string {
  const resources = toResources(requested)
  if (resources.length === 0) return granted
  const excess = resources.find((resource) => !toResources(granted).includes(resource))
  if (excess === undefined) return resources.join(' ')
  throw oauthError('invalid_target', `The resource ${excess} was not granted`)
}

export function toResources(text: string): readonly string[] {
  return [...new Set(text.split(' ').filter((resource) => resource !== ''))]
}

/**
 * A resource must be a URL, so that no client can choose the audience of this server's own users.
 * @throws {ApiError}
 */
function checkResource({ resources }: OAuthServerConfig, resource: string): void {
  const fault = findFault(resource)
  if (fault !== undefined) throw oauthError('invalid_target', `resource ${fault}`)
  if (resources.length === 0 || resources.includes(resource)) return
  throw oauthError('invalid_target', 'resource is not a resource of this server')
}

function findFault(resource: string): string | undefined {
  if (resource.length > longestResource) return `has more than ${longestResource} characters`
  if (!/^[\x21-\x7e]+$/.test(resource) || !URL.canParse(resource)) return 'must be an absolute URI'
  if (resource.includes('#')) return 'must not include a fragment component'
  const url = new URL(resource)
  const isLocal = url.protocol === 'http:' && isLoopback(url)
  return url.protocol === 'https:' || isLocal ? undefined : 'must be an https URL'
}
