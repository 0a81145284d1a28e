import { isIP } from 'node:net'
import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  boolean,
  type Chapter,
  duration,
  integer,
  list,
  type Settings,
  string,
} from '@portcullis/service-kit/settings/env'
import { withOldNames } from './variables.ts'

export const passkeys = {
  title: 'Passkeys and WebAuthn',
  variables: withOldNames({
    enabled: boolean('AUTH_PASSKEY_ENABLED', false, 'Whether users can sign in with passkeys'),
    mostPerUser: integer(
      'AUTH_PASSKEY_MAX_PASSKEYS_PER_USER',
      10,
      'Maximum number of passkeys per user',
      {
        min: 0,
      },
    ),
    rpId: string(
      'AUTH_WEBAUTHN_RP_ID',
      '',
      'Domain (relying party id) for which passkeys and security keys are created. They work on it ' +
        'and its subdomains, and become unusable if it changes',
      { defaultText: 'the host of AUTH_SITE_URL' },
    ),
    rpName: string('AUTH_WEBAUTHN_RP_DISPLAY_NAME', '', 'Name of the site that browsers show', {
      defaultText: 'AUTH_WEBAUTHN_RP_ID',
    }),
    rpOrigins: list(
      'AUTH_WEBAUTHN_RP_ORIGINS',
      [],
      'Origins that may use passkeys and security keys: https://example.com, or android:apk-key-hash:… for an app',
      { defaultText: 'the origin of AUTH_SITE_URL' },
    ),
    challengeExpiresInMs: duration(
      'AUTH_WEBAUTHN_CHALLENGE_EXPIRY_DURATION',
      '5m',
      'How long a passkey or security key challenge is valid',
      { bareSeconds: true },
    ),
    requiresUserVerification: boolean(
      'AUTH_WEBAUTHN_REQUIRE_USER_VERIFICATION',
      false,
      'Whether passkeys and security keys must verify the user, for example by PIN or fingerprint. ' +
        'Otherwise possession of the device is enough, and devices without user verification are accepted',
    ),
  }),
} satisfies Chapter

/** The WebAuthn relying party: the site for which credentials are created. */
export interface RelyingParty {
  readonly id: string
  readonly name: string
  readonly origins: readonly string[]
  /** Whether the authenticator must have verified the user. */
  readonly requiresUserVerification: boolean
}

export interface PasskeysConfig {
  readonly enabled: boolean
  readonly mostPerUser: number
  readonly challengeExpiresInMs: number
  /** Also used for WebAuthn factors. */
  readonly relyingParty: RelyingParty
}

/**
 * @param isUsed whether a feature that needs these settings is enabled, so that they are checked.
 */
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

/** A URL such as `myapp://home` has no origin. */
function toOrigins(site: URL | undefined): readonly string[] {
  return site === undefined || site.origin === 'null' ? [] : [site.origin]
}

function checkId(id: string, check: Check): void {
  const isDomain = /^(?:[a-z\d](?:[a-z\d-]*[a-z\d])?\.)*[a-z](?:[a-z\d-]*[a-z\d])?$/.test(id)
  if (isDomain && isIP(id) === 0) return
  check.fault(
    passkeys.variables.rpId,
    'must be a domain such as example.com, without scheme and port; browsers do not accept an IP address',
  )
}

function checkOrigins(origins: readonly string[], id: string, check: Check): void {
  const { rpOrigins } = passkeys.variables
  const name = check.nameOf(rpOrigins)
  if (origins.length === 0)
    check.fault(rpOrigins, 'is required because AUTH_SITE_URL is not a web URL and has no origin')
  for (const origin of origins) {
    // Android apps are identified by a key hash instead of a web origin.
    if (origin.startsWith('android:apk-key-hash:')) continue
    const url = URL.canParse(origin) ? new URL(origin) : undefined
    if (url?.origin !== origin) {
      check.fault(rpOrigins, `must be origins such as https://example.com, not ${origin}`)
    } else if (url.protocol !== 'https:' && url.hostname !== 'localhost') {
      check.note(`${name}: browsers do not allow passkeys on ${origin}, which does not use TLS`)
    } else if (url.hostname !== id && !url.hostname.endsWith(`.${id}`)) {
      check.note(
        `${name}: ${origin} is not part of ${id}; browsers allow it only if https://${id}/.well-known/webauthn lists it`,
      )
    }
  }
}
