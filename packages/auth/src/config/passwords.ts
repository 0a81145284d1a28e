import type { Check } from '@portcullis/service-kit/config-check'
import { boolean, type Chapter, choice, type Settings, string } from '@portcullis/service-kit/env'
import { type WrittenFormatName, writtenFormatNames } from '../passwords/formats/index.ts'
import { withOldNames } from './variables.ts'

export const passwords = {
  title: 'Stored and leaked passwords',
  variables: withOldNames({
    hash: choice(
      'AUTH_PASSWORD_HASH',
      writtenFormatNames,
      'bcrypt',
      'How new passwords are stored; others are stored so when their owner signs in',
    ),
    looksUpLeaks: boolean(
      'AUTH_PASSWORD_HIBP_ENABLED',
      false,
      'Whether new passwords are looked up among leaked ones at haveibeenpwned.com, which is told ' +
        'the first five digits of a hash',
    ),
    failsClosed: boolean(
      'AUTH_PASSWORD_HIBP_FAIL_CLOSED',
      false,
      'Whether no password is taken while that service cannot be reached',
    ),
    userAgent: string(
      'AUTH_PASSWORD_HIBP_USER_AGENT',
      'portcullis-auth',
      'The name under which it is asked',
    ),
  }),
} satisfies Chapter

export interface PasswordsConfig {
  readonly hash: WrittenFormatName
  /** Undefined: nobody is asked. */
  readonly leaks: { readonly failsClosed: boolean; readonly userAgent: string } | undefined
}

export function toPasswords(
  settings: Settings<typeof passwords.variables>,
  check: Check,
): PasswordsConfig {
  const { hash, looksUpLeaks, failsClosed, userAgent } = settings
  if (!/^[ -~]+$/.test(userAgent)) {
    check.fault(passwords.variables.userAgent, 'must be a text that a header may have')
  }
  return { hash, leaks: looksUpLeaks ? { failsClosed, userAgent } : undefined }
}
