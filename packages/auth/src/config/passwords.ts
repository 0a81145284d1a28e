import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  boolean,
  type Chapter,
  choice,
  type Settings,
  string,
} from '@portcullis/service-kit/settings/env'
import { type WrittenFormatName, writtenFormatNames } from '../passwords/formats/index.ts'
import { withOldNames } from './variables.ts'

export const passwords = {
  title: 'Stored and leaked passwords',
  variables: withOldNames({
    hash: choice(
      'AUTH_PASSWORD_HASH',
      writtenFormatNames,
      'bcrypt',
      'Hash format of new passwords; existing ones are converted when their user signs in',
    ),
    looksUpLeaks: boolean(
      'AUTH_PASSWORD_HIBP_ENABLED',
      false,
      'Whether new passwords are checked against the leaked passwords of haveibeenpwned.com, which ' +
        'receives the first five digits of a hash',
    ),
    failsClosed: boolean(
      'AUTH_PASSWORD_HIBP_FAIL_CLOSED',
      false,
      'Whether new passwords are rejected while that service is unavailable',
    ),
    userAgent: string(
      'AUTH_PASSWORD_HIBP_USER_AGENT',
      'portcullis-auth',
      'User-Agent header of requests to that service',
    ),
  }),
} satisfies Chapter

export interface PasswordsConfig {
  readonly hash: WrittenFormatName
  /** Undefined: leaked passwords are not checked. */
  readonly leaks: { readonly failsClosed: boolean; readonly userAgent: string } | undefined
}

export function toPasswords(
  settings: Settings<typeof passwords.variables>,
  check: Check,
): PasswordsConfig {
  const { hash, looksUpLeaks, failsClosed, userAgent } = settings
  if (!/^[ -~]+$/.test(userAgent)) {
    check.fault(passwords.variables.userAgent, 'must be a valid header value')
  }
  return { hash, leaks: looksUpLeaks ? { failsClosed, userAgent } : undefined }
}
