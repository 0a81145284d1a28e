import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  boolean,
  type Chapter,
  integer,
  list,
  type Settings,
  string,
} from '@portcullis/service-kit/settings/env'
import { SettingError } from '../errors.ts'
import { checkPresent, checkUrl } from './checks.ts'
import { parseRedirectPattern } from './redirect-patterns.ts'
import { withOldNames } from './variables.ts'

export const site = {
  title: 'Site, sign-up and passwords',
  variables: withOldNames({
    url: string('AUTH_SITE_URL', '', 'URL of the site; redirects to its host are allowed'),
    uriAllowList: list(
      'AUTH_URI_ALLOW_LIST',
      [],
      'Additional allowed redirect URLs; * matches one host label or path segment, ** matches anything',
    ),
    strictRedirects: boolean(
      'AUTH_STRICT_REDIRECTS',
      false,
      'Whether the scheme and port of a redirect must match those of the site as well',
    ),
    disableSignup: boolean(
      'AUTH_DISABLE_SIGNUP',
      false,
      'Whether users can be created only by invitation or by administrators',
    ),
    marksRepeatedSignup: boolean(
      'AUTH_MARK_REPEATED_SIGNUP',
      false,
      'Whether the response to the sign-up of an existing user has no identities, as applications for ' +
        'Supabase Auth may expect; this reveals to any client which addresses have an account',
      { defaultText: 'true if AUTH_COMPAT_MODE is upstream' },
    ),
    emailEnabled: boolean(
      'AUTH_EXTERNAL_EMAIL_ENABLED',
      true,
      'Whether users can sign in with an email address',
    ),
    magicLinkEnabled: boolean(
      'AUTH_EXTERNAL_EMAIL_MAGIC_LINK_ENABLED',
      true,
      'Whether users can sign in with a link sent by email',
    ),
    phoneEnabled: boolean(
      'AUTH_EXTERNAL_PHONE_ENABLED',
      false,
      'Whether users can sign in with a phone number',
    ),
    anonymousEnabled: boolean(
      'AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED',
      false,
      'Whether anonymous sign-ins are allowed',
    ),
    passwordMinLength: integer('AUTH_PASSWORD_MIN_LENGTH', 6, 'Minimum length of a password', {
      min: 1,
      // Longer passwords are rejected because bcrypt uses only the first 72 bytes.
      max: 72,
    }),
    passwordRequiredCharacters: string(
      'AUTH_PASSWORD_REQUIRED_CHARACTERS',
      '',
      'Sets of characters separated by colons; a password needs a character from each set; \\: is a colon',
    ),
    requiresReauthentication: boolean(
      'AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION',
      false,
      'Whether changing a password requires a code that is sent to the user',
    ),
    requiresCurrentPassword: boolean(
      'AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD',
      false,
      'Whether changing a password requires the current password',
    ),
    manualLinking: boolean(
      'AUTH_SECURITY_MANUAL_LINKING_ENABLED',
      false,
      'Whether users can link and unlink identities themselves',
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

/** @param isUpstream whether defaults are those of Supabase Auth. */
export function toSite(
  settings: Settings<typeof site.variables>,
  isUpstream: boolean,
  check: Check,
): SiteConfig {
  const { variables } = site
  checkPresent(variables.url, settings.url, check)
  const url = settings.url.trim()
  checkUrl(variables.url, url, check)
  if (settings.passwordMinLength < 6) {
    const name = check.nameOf(variables.passwordMinLength)
    check.note(`${name} is ${settings.passwordMinLength}: such short passwords are easy to guess`)
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
  return {
    ...rest,
    url,
    marksRepeatedSignup: check.isSet(variables.marksRepeatedSignup)
      ? rest.marksRepeatedSignup
      : isUpstream,
    passwordRequiredSets: parseCharacterSets(passwordRequiredCharacters),
  }
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
      'Maximum size of the user_metadata of a user, in bytes of JSON',
      { min: 512 },
    ),
    mostAppBytes: integer(
      'AUTH_APP_METADATA_MAX_BYTES',
      6_144,
      'Maximum size of the app_metadata of a user, in bytes of JSON',
      { min: 512 },
    ),
    mostTokenBytes: integer(
      'AUTH_JWT_MAX_BYTES',
      12_288,
      'Maximum size of an access token in bytes; a longer one is issued without user_metadata. Many ' +
        'servers and proxies limit all request headers together, token included, to 8 or 16 kB',
      { min: 4_096, max: 14_336 },
    ),
  }),
} satisfies Chapter

export type MetadataConfig = Settings<typeof metadata.variables>
