import type { Services } from '../../../services.ts'

/** The page on which users decide about requests: the operator's, or the built-in one. */
export function toConsentUrl(services: Services): string {
  const { site, oauthServer } = services.config
  const { authorizationPath: path } = oauthServer
  if (path === '') return toBuiltInUrl(services)
  return `${site.url.replace(/\/+$/, '')}/${path.replace(/^\/+/, '')}`
}

export function toBuiltInUrl({ config }: Services): string {
  return `${config.api.externalUrl}/oauth/consent`
}
