import type { OAuthServerConfig } from '../../config/oauth-server.ts'
import { isLoopback } from '../redirects/redirects.ts'
import { oauthError } from './oauth-error.ts'

const longestResource = 1_024

/**
 * Checks a resource indicator (RFC 8707), which becomes the audience of the access token. It must be
 * a URL, so that no client can choose the audience of this server's own users.
 * @throws {ApiError}
 */
export function checkResource({ resources }: OAuthServerConfig, resource: string): void {
  if (resource === '') return
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
