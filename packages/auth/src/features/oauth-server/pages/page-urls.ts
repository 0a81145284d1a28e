import type { Services } from '../../../services.ts'

/** The page on which users decide about requests: the operator's, or the built-in one. */
export function toConsentUrl(services: Services): string {
  const { site, oauthServer } = services.config
  const { authorizationPath: path } = oauthServer
  if (path === '') return toBuiltInUrl(services)
  return `${site.url.replace(/\/+$/, '')}/${path.replace(/^\/+/, '')}`
}

/** The page on which users type in the code that a device shows. */
export function toDeviceUrl({ config }: Services): string {
  return `${config.api.externalUrl}/oauth/device`
}

export function toBuiltInUrl({ config }: Services): string {
  return `${config.api.externalUrl}/oauth/consent`
}
