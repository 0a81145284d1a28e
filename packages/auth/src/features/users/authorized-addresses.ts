import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'

/**
 * Reference 11.5: an installation may be allowed to write to some people only, such as those who build
 * the site. Asked before anybody is looked up, so that the answer tells nothing about accounts.
 * @throws {ApiError}
 */
export function checkAuthorized(services: Pick<Services, 'config'>, email: string): void {
  if (isAuthorized(services, email)) return
  throw new ApiError(
    'email_address_not_authorized',
    `Email address "${email}" cannot be used as it is not authorized`,
  )
}

export function isAuthorized({ config }: Pick<Services, 'config'>, email: string): boolean {
  const { authorizedAddresses: addresses } = config.mail
  // `ada+anything@site.example` is read by who reads `ada@site.example`.
  return addresses.length === 0 || addresses.includes(email.replace(/\+[^@]*@/, '@'))
}
