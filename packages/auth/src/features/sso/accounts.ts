import { randomUUID } from 'node:crypto'
import { ApiError } from '../../errors.ts'
import {
  type ExternalProfile,
  findMainEmail,
} from '../../plugins/providers/oauth/external-profile.ts'
import type { Services } from '../../services.ts'
import { toAuditEntry } from '../audit/audit.ts'
import {
  applyChange,
  checkBan,
  isConcurrentChange,
  toChange,
  toNewIdentity,
  toParts,
} from '../external/account-changes.ts'
import type { Client } from '../sessions/sessions.ts'
import { insertUser, unconfirmed } from '../user-changes/new-users.ts'
import type { UserRow } from '../users/statements/user-row.ts'
import { findSsoUser } from './statements/accounts.ts'

/** A sign-in with an identity provider of a company. */
export interface SsoSignIn {
  /** `sso:` and the ID of the provider, as it is named in identities. */
  readonly provider: { readonly id: string; readonly isEmailOptional: boolean }
  readonly profile: ExternalProfile
  readonly audience: string
  readonly client: Client
  readonly redirectTo: string
  readonly externalUrl: string
}

/** If a concurrent request changes the same account, the lookup is repeated. */
const mostTries = 3

/**
 * Finds or creates the account of a user. An account of another provider is never found by its
 * address, because each company can claim any address for its users. @throws {ApiError}
 */
export async function findOrCreateSsoUser(services: Services, signIn: SsoSignIn): Promise<UserRow> {
  const { provider, profile } = signIn
  for (let tries = 1; tries <= mostTries; tries++) {
    const [known] = await services.db.run(findSsoUser, {
      provider: provider.id,
      id: profile.id,
      providerId: provider.id.slice('sso:'.length),
      email: findMainEmail(profile.emails)?.email ?? '',
    })
    const user =
      known === undefined
        ? await createSsoUser(services, signIn)
        : await updateSsoUser(services, signIn, known)
    if (user !== undefined) return user
  }
  throw new ApiError('conflict', 'The account is being changed, please try again')
}

/** Undefined when a concurrent request created the account. */
async function createSsoUser(services: Services, signIn: SsoSignIn): Promise<UserRow | undefined> {
  const { config } = services
  const { provider, profile } = signIn
  if (config.site.disableSignup) {
    throw new ApiError('signup_disabled', 'Signups not allowed for this instance')
  }
  const now = new Date(services.now())
  const identity = toNewIdentity(services, signIn)
  const { email = null, isVerified = false } = findMainEmail(profile.emails) ?? {}
  const actor = { id: randomUUID(), email, phone: null, is_sso_user: true }
  try {
    return await insertUser(services, {
      ...unconfirmed,
      ...actor,
      aud: signIn.audience,
      role: config.tokens.defaultGroup,
      email_confirmed_at: isVerified ? now : null,
      raw_app_meta_data: { provider: provider.id, providers: [provider.id] },
      raw_user_meta_data: identity.identity_data,
      is_anonymous: false,
      identities: [identity],
      ...toParts(services, signIn, now, null),
      audit: toAuditEntry('user_signedup', actor, { provider: provider.id }),
    })
  } catch (error) {
    if (isConcurrentChange(error)) return undefined
    throw error
  }
}

/**
 * The company decides about the address of its users, so a new one replaces it. An address stops
 * being confirmed when another company gets its domain.
 */
async function updateSsoUser(
  services: Services,
  signIn: SsoSignIn,
  user: UserRow,
): Promise<UserRow | undefined> {
  checkBan(services, user, signIn.client.ip)
  const now = new Date(services.now())
  const main = findMainEmail(signIn.profile.emails)
  const isSame =
    main?.email === user.email && main?.isVerified === (user.email_confirmed_at !== null)
  return applyChange(services, {
    ...toChange(services, signIn, user),
    ...toParts(services, signIn, now, null),
    ...(main !== undefined && !isSame && { email: main.email, confirms: main.isVerified }),
    audit: [],
  })
}
