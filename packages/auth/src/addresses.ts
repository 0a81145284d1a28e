import { ApiError, invalid } from './errors.ts'

/** The pattern of the HTML standard for email inputs, which allows hosts without a dot. */
const emailPattern =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/

/**
 * Returns the address in lower case, as it is stored and compared.
 * @throws {ApiError}
 */
export function parseEmail(text: string | undefined): string {
  if (text === undefined || text === '') throw invalid('An email address is required')
  if (Buffer.byteLength(text) > 255) throw invalid('An email address is too long')
  if (!emailPattern.test(text)) throw invalid('Unable to validate email address: invalid format')
  return text.toLowerCase()
}

/**
 * Returns the digits without the plus, as phone numbers are stored and returned.
 * @throws {ApiError}
 */
export function parsePhone(text: string): string {
  const digits = text.replace(/^\+/, '').replaceAll(' ', '')
  if (!/^[1-9]\d{1,14}$/.test(digits)) {
    throw invalid('Invalid phone number format (E.164 required)')
  }
  return digits
}

interface MailSettings {
  readonly config: { readonly mail: { readonly authorizedAddresses: readonly string[] } }
}

/**
 * An installation may be restricted to some addresses, such as those of its developers. Checked
 * before the user is looked up, so that the error reveals nothing about accounts.
 * @throws {ApiError}
 */
export function checkAuthorized(services: MailSettings, email: string): void {
  if (isAuthorized(services, email)) return
  throw new ApiError(
    'email_address_not_authorized',
    `Email address "${email}" cannot be used as it is not authorized`,
  )
}

export function isAuthorized({ config }: MailSettings, email: string): boolean {
  const { authorizedAddresses: addresses } = config.mail
  // `ada+anything@site.example` is delivered to `ada@site.example`.
  return addresses.length === 0 || addresses.includes(email.replace(/\+[^@]*@/, '@'))
}
