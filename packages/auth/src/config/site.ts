import type { Check } from '@portcullis/service-kit/config-check'
import {
  boolean,
  type Chapter,
  integer,
  list,
  type Settings,
  string,
} from '@portcullis/service-kit/env'
import { SettingError } from '../errors.ts'
import { checkPresent, checkUrl } from './checks.ts'
import { parseRedirectPattern } from './redirect-pattern.ts'
import { withOldNames } from './variables.ts'

export const site = {
  title: 'Site, sign-up and passwords',
  variables: withOldNames({
    url: string('AUTH_SITE_URL', '', 'The URL of the site; redirects to its host are permitted'),
    uriAllowList: list(
      'AUTH_URI_ALLOW_LIST',
      [],
      'More permitted redirects; * stands for one host label or path segment, ** for anything',
    ),
    strictRedirects: boolean(
      'AUTH_STRICT_REDIRECTS',
      false,
      "Whether scheme and port of a redirect must be the site's too",
    ),
    disableSignup: boolean(
      'AUTH_DISABLE_SIGNUP',
      false,
      'Whether users are created by invitation and administrators only',
    ),
    marksRepeatedSignup: boolean(
      'AUTH_MARK_REPEATED_SIGNUP',
      false,
      'Whether the answer to the sign-up of a known user has no identities, as applications of ' +
        'Supabase Auth may expect; it tells everybody who has an account',
    ),
    emailEnabled: boolean('AUTH_EXTERNAL_EMAIL_ENABLED', true, 'Whether people sign in by email'),
    magicLinkEnabled: boolean(
      'AUTH_EXTERNAL_EMAIL_MAGIC_LINK_ENABLED',
      true,
      'Whether people sign in by a link in an email',
    ),
    phoneEnabled: boolean('AUTH_EXTERNAL_PHONE_ENABLED', false, 'Whether people sign in by phone'),
    anonymousEnabled: boolean(
      'AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED',
      false,
      'Whether people sign in without saying who they are',
    ),
    passwordMinLength: integer('AUTH_PASSWORD_MIN_LENGTH', 6, 'The shortest password', {
      min: 1,
      // No longer one is taken (reference 1.6).
      max: 72,
    }),
    passwordRequiredCharacters: string(
      'AUTH_PASSWORD_REQUIRED_CHARACTERS',
      '',
      'Sets of characters separated by :, of each of which a password needs one; \\: is a colon',
    ),
    requiresReauthentication: boolean(
      'AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION',
      false,
      'Whether a new password needs a code sent to the user',
    ),
    requiresCurrentPassword: boolean(
      'AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD',
      false,
      'Whether a new password needs the one before it',
    ),
    manualLinking: boolean(
      'AUTH_SECURITY_MANUAL_LINKING_ENABLED',
      false,
      'Whether users may link and unlink identities',
    ),
  }),
} satisfies Chapter

export interface SiteConfig {
  readonly url: string
  readonly uriAllowList: readonly string[]
  readonly strictRedirects: boolean
  readonly disableSignup: boolean
  readonly marksRepeatedSignup: boolean
  readonly emailEnabled: boolean
  readonly magicLinkEnabled: boolean
  readonly phoneEnabled: boolean
  readonly anonymousEnabled: boolean
  readonly passwordMinLength: number
  readonly passwordRequiredSets: readonly string[]
  readonly requiresReauthentication: boolean
  readonly requiresCurrentPassword: boolean
  readonly manualLinking: boolean
}

export function toSite(settings: Settings<typeof site.variables>, check: Check): SiteConfig {
  const { variables } = site
  checkPresent(variables.url, settings.url, check)
  const url = settings.url.trim()
  checkUrl(variables.url, url, check)
  if (settings.passwordMinLength < 6) {
    const name = check.nameOf(variables.passwordMinLength)
    check.note(`${name} is ${settings.passwordMinLength}: passwords so short are easy to guess`)
  }
  for (const pattern of settings.uriAllowList) {
    try {
      parseRedirectPattern(pattern)
    } catch (error) {
      if (!(error instanceof SettingError)) throw error
      check.fault(variables.uriAllowList, error.message)
    }
  }
  const { passwordRequiredCharacters, ...rest } = settings
  return { ...rest, url, passwordRequiredSets: parseCharacterSets(passwordRequiredCharacters) }
}

/** `abc:\:!` are the sets `abc` and `:!`. */
export function parseCharacterSets(text: string): readonly string[] {
  const sets = text.match(/(?:\\:|[^:])+/g) ?? []
  return sets.map((set) => set.replaceAll('\\:', ':'))
}

export const metadata = {
  title: 'Metadata and the size of access tokens',
  variables: withOldNames({
    mostUserBytes: integer(
      'AUTH_USER_METADATA_MAX_BYTES',
      6_144,
      'The largest user_metadata of a user, in bytes of JSON',
      { min: 512 },
    ),
    mostAppBytes: integer(
      'AUTH_APP_METADATA_MAX_BYTES',
      6_144,
      'The largest app_metadata of a user, in bytes of JSON',
      { min: 512 },
    ),
    mostTokenBytes: integer(
      'AUTH_JWT_MAX_BYTES',
      12_288,
      'The longest access token. One that would be longer leaves user_metadata out. Servers and ' +
        'proxies accept request headers of 8 or 16 kB in all, and the token is one of them',
      { min: 4_096, max: 14_336 },
    ),
  }),
} satisfies Chapter

export type MetadataConfig = Settings<typeof metadata.variables>
