import { isIP } from 'node:net'
import type { Check } from '@portcullis/service-kit/config-check'
import {
  boolean,
  type Chapter,
  duration,
  integer,
  list,
  type Settings,
  string,
} from '@portcullis/service-kit/env'
import { withOldNames } from './variables.ts'

export const passkeys = {
  title: 'Passkeys and WebAuthn',
  variables: withOldNames({
    enabled: boolean('AUTH_PASSKEY_ENABLED', false, 'Whether people sign in with passkeys'),
    mostPerUser: integer('AUTH_PASSKEY_MAX_PASSKEYS_PER_USER', 10, 'Passkeys of a user', {
      min: 0,
    }),
    rpId: string(
      'AUTH_WEBAUTHN_RP_ID',
      '',
      'Domain that passkeys and security keys are made for. They work there and on its ' +
        'subdomains, and are lost when it changes',
      { defaultText: 'the host of AUTH_SITE_URL' },
    ),
    rpName: string('AUTH_WEBAUTHN_RP_DISPLAY_NAME', '', 'What browsers call the site', {
      defaultText: 'AUTH_WEBAUTHN_RP_ID',
    }),
    rpOrigins: list(
      'AUTH_WEBAUTHN_RP_ORIGINS',
      [],
      'Origins whose pages may use them: https://example.com, or android:apk-key-hash:… of an app',
      { defaultText: 'the origin of AUTH_SITE_URL' },
    ),
    challengeExpiresInMs: duration(
      'AUTH_WEBAUTHN_CHALLENGE_EXPIRY_DURATION',
      '5m',
      'How long a passkey may take to answer',
      { bareSeconds: true },
    ),
    requiresUserVerification: boolean(
      'AUTH_WEBAUTHN_REQUIRE_USER_VERIFICATION',
      false,
      'Whether passkeys and security keys must ask their owner for a PIN, a fingerprint or the like. ' +
        'Otherwise whoever holds the device can use it, and devices that cannot ask are accepted',
    ),
  }),
} satisfies Chapter

/** The site, as authenticators know it. */
export interface RelyingParty {
  readonly id: string
  readonly name: string
  readonly origins: readonly string[]
  /** Whether an answer counts only if the authenticator has checked who is using it. */
  readonly requiresUserVerification: boolean
}

export interface PasskeysConfig {
  readonly enabled: boolean
  readonly mostPerUser: number
  readonly challengeExpiresInMs: number
  /** Of WebAuthn factors as well. */
  readonly relyingParty: RelyingParty
}

/** @param isUsed whether anything of it is switched on, and has to be right. */
export function toPasskeys(
  settings: Settings<typeof passkeys.variables>,
  siteUrl: string,
  isUsed: boolean,
  check: Check,
): PasskeysConfig {
  const { enabled, mostPerUser, challengeExpiresInMs, requiresUserVerification } = settings
  const site = URL.canParse(siteUrl) ? new URL(siteUrl) : undefined
  const id = settings.rpId.toLowerCase() || (site?.hostname ?? '')
  const given = settings.rpOrigins.map((text) => text.replace(/\/$/, ''))
  const origins = given.length > 0 ? given : toOrigins(site)
  if (isUsed) {
    checkId(id, check)
    checkOrigins(origins, id, check)
  }
  return {
    enabled,
    mostPerUser,
    challengeExpiresInMs,
    relyingParty: { id, name: settings.rpName || id, origins, requiresUserVerification },
  }
}

/** None of a URL such as `myapp://home`. */
function toOrigins(site: URL | undefined): readonly string[] {
  return site === undefined || site.origin === 'null' ? [] : [site.origin]
}

function checkId(id: string, check: Check): void {
  const isDomain = /^(?:[a-z\d](?:[a-z\d-]*[a-z\d])?\.)*[a-z](?:[a-z\d-]*[a-z\d])?$/.test(id)
  if (isDomain && isIP(id) === 0) return
  check.fault(
    passkeys.variables.rpId,
    'must be a domain such as example.com, without scheme and port; browsers take no IP address',
  )
}

function checkOrigins(origins: readonly string[], id: string, check: Check): void {
  const { rpOrigins } = passkeys.variables
  const name = check.nameOf(rpOrigins)
  if (origins.length === 0) check.fault(rpOrigins, 'is required: the site has no origin of the web')
  for (const origin of origins) {
    // Apps of Android are no pages.
    if (origin.startsWith('android:apk-key-hash:')) continue
    const url = URL.canParse(origin) ? new URL(origin) : undefined
    if (url?.origin !== origin) {
      check.fault(rpOrigins, `must be origins such as https://example.com, not ${origin}`)
    } else if (url.protocol !== 'https:' && url.hostname !== 'localhost') {
      check.note(`${name}: browsers use no passkeys on ${origin}, which has no TLS`)
    } else if (url.hostname !== id && !url.hostname.endsWith(`.${id}`)) {
      check.note(
        `${name}: ${origin} is not part of ${id}; browsers ask https://${id}/.well-known/webauthn whether it may use its passkeys`,
      )
    }
  }
}
