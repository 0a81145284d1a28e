import type { Check } from '@portcullis/service-kit/config-check'
import {
  boolean,
  type Chapter,
  duration,
  hideAll,
  integer,
  list,
  type Settings,
  string,
} from '@portcullis/service-kit/env'
import { SettingError } from '../errors.ts'
import { longestAudience } from '../tokens/audiences.ts'
import { createSigningKeys } from '../tokens/signing-keys.ts'
import { checkPresent } from './checks.ts'
import { unlessBlank, withOldNames } from './variables.ts'

/**
 * The service role and the second privileged role. They are the administrators unless AUTH_JWT_ADMIN_ROLES
 * names others, and may invite users in any case.
 */
export const privilegedRoles = ['service_role', 'supabase_admin'] as const

export const tokens = {
  title: 'Tokens and sessions',
  variables: withOldNames({
    secret: string('AUTH_JWT_SECRET', '', 'The secret that signs access tokens', { mask: hideAll }),
    keyId: string('AUTH_JWT_KEY_ID', '', 'The kid of tokens signed with AUTH_JWT_SECRET'),
    keys: string(
      'AUTH_JWT_KEYS',
      '',
      'A JSON array of JWKs; the one whose key_ops has sign signs, the others verify',
      { mask: hideAll },
    ),
    expiresInSeconds: integer('AUTH_JWT_EXP', 3_600, 'Lifetime of access tokens in seconds', {
      min: 1,
    }),
    audience: string('AUTH_JWT_AUD', '', 'Audience of users whose request names none'),
    allowedAudiences: list(
      'AUTH_JWT_ALLOWED_AUDIENCES',
      [],
      'Other audiences that requests may name with the header X-JWT-AUD, and administrators for new users',
    ),
    issuer: string(
      'AUTH_JWT_ISSUER',
      '',
      'iss of access tokens; tokens with another iss are then refused',
      { defaultText: 'none' },
    ),
    acceptedIssuers: list(
      'AUTH_JWT_ACCEPTED_ISSUERS',
      ['supabase', 'supabase-demo'],
      'With AUTH_JWT_ISSUER: other values of iss that are accepted; the default is that of keys which Supabase generates',
    ),
    adminGroup: unlessBlank(
      string(
        'AUTH_JWT_ADMIN_GROUP_NAME',
        'admin',
        'Role whose owner may change the own app_metadata',
      ),
    ),
    defaultGroup: string('AUTH_JWT_DEFAULT_GROUP_NAME', '', 'Role of new users'),
    adminRoles: unlessBlank(
      list('AUTH_JWT_ADMIN_ROLES', privilegedRoles, 'Roles that may use the admin endpoints'),
    ),
    rotates: boolean(
      'AUTH_SECURITY_REFRESH_TOKEN_ROTATION_ENABLED',
      true,
      'Whether the reuse of an old refresh token ends its session',
    ),
    reuseIntervalMs: duration(
      'AUTH_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL',
      '10s',
      'How long, once the present refresh token was sent, the one before gets it again',
      { bareSeconds: true },
    ),
    parentGrace: boolean(
      'AUTH_SECURITY_REFRESH_TOKEN_PARENT_GRACE',
      false,
      'Whether the refresh token before the present one is accepted at any age while the present one is unused',
    ),
    timeboxMs: duration('AUTH_SESSIONS_TIMEBOX', '0', 'The longest life of a session; 0: no end'),
    inactivityMs: duration(
      'AUTH_SESSIONS_INACTIVITY_TIMEOUT',
      '0',
      'How long a session lasts without a refresh; 0: for ever',
    ),
    singlePerUser: boolean(
      'AUTH_SESSIONS_SINGLE_PER_USER',
      false,
      'Whether the newest session of a user ends the others',
    ),
    tags: list(
      'AUTH_SESSIONS_TAGS',
      [],
      'With AUTH_SESSIONS_SINGLE_PER_USER: one session for each of these, which X-Session-Tag names at sign-in',
    ),
    lowAalMs: duration(
      'AUTH_SESSIONS_ALLOW_LOW_AAL',
      '0',
      'How long a session of a user with a second factor lasts before it is shown; 0: for ever',
    ),
  }),
} satisfies Chapter

export interface TokensConfig {
  readonly secret: string
  readonly keyId: string | undefined
  /** The text of AUTH_JWT_KEYS; `tokens/signing-keys.ts` reads it. */
  readonly keys: string | undefined
  readonly expiresInSeconds: number
  readonly audience: string
  readonly allowedAudiences: readonly string[]
  readonly issuer: string | undefined
  readonly acceptedIssuers: readonly string[]
  readonly adminGroup: string
  readonly defaultGroup: string
  readonly adminRoles: readonly string[]
  readonly rotates: boolean
  readonly reuseIntervalMs: number
  readonly parentGrace: boolean
  readonly sessions: SessionLimits
}

/** Reference 6.7; all of them are off unless an operator wants them. */
export interface SessionLimits {
  /** Undefined: no end. */
  readonly timeboxMs: number | undefined
  readonly inactivityMs: number | undefined
  /** How long somebody who has a second factor may go without showing it; undefined: for ever. */
  readonly lowAalMs: number | undefined
  readonly singlePerUser: boolean
  /** Where a user has one session only: one for each of these. */
  readonly tags: readonly string[]
}

const shortSecret =
  'is shorter than 32 bytes: whoever has one access token can find a short secret by trying, and ' +
  'then sign in as anybody. Make a good one with: ' +
  `node -p "require('node:crypto').randomBytes(32).toString('base64')"`

export function toTokens(settings: Settings<typeof tokens.variables>, check: Check): TokensConfig {
  const { variables } = tokens
  checkPresent(variables.secret, settings.secret, check)
  if (settings.secret !== '' && Buffer.byteLength(settings.secret) < 32) {
    check.note(`${check.nameOf(variables.secret)} ${shortSecret}`)
  }
  const defaultGroup = settings.defaultGroup.trim()
  if (settings.adminRoles.includes(defaultGroup)) {
    const adminRoles = check.nameOf(variables.adminRoles)
    const message = `is one of ${adminRoles}: everybody who signs up would be an administrator`
    check.fault(variables.defaultGroup, message)
  } else if (privilegedRoles.some((role) => role === defaultGroup)) {
    const message = 'is a role that may invite users: everybody who signs up could send invitations'
    check.fault(variables.defaultGroup, message)
  } else if (defaultGroup !== '' && defaultGroup === settings.adminGroup) {
    const names = [variables.defaultGroup, variables.adminGroup].map(check.nameOf)
    check.note(`${names[0]} is ${names[1]}: everybody who signs up may change their app_metadata`)
  }
  const isTooLong = (audience: string) => audience.length > longestAudience
  const atMost = `must have at most ${longestAudience} characters`
  if (isTooLong(settings.audience)) check.fault(variables.audience, atMost)
  if (settings.allowedAudiences.some(isTooLong)) {
    check.fault(variables.allowedAudiences, `${atMost} in each audience`)
  }
  if (settings.keys !== '') {
    try {
      createSigningKeys({ secret: 'any', keyId: undefined, keys: settings.keys })
    } catch (error) {
      if (!(error instanceof SettingError)) throw error
      check.fault(variables.keys, error.message)
    }
  }
  const { timeboxMs, inactivityMs, lowAalMs, singlePerUser, tags, ...rest } = settings
  return {
    ...rest,
    keyId: rest.keyId || undefined,
    keys: rest.keys || undefined,
    issuer: rest.issuer || undefined,
    sessions: {
      timeboxMs: timeboxMs || undefined,
      inactivityMs: inactivityMs || undefined,
      lowAalMs: lowAalMs || undefined,
      singlePerUser,
      tags,
    },
  }
}
