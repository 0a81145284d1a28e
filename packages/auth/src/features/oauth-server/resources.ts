import type { OAuthServerConfig } from '../../config/oauth-server.ts'
import { isLoopback } from '../redirects/redirects.ts'
import { oauthError } from './oauth-error.ts'

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
