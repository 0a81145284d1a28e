import type { AuditEntry } from '../console/routes/users-audit.ts'
import { formatBanEnd } from './ban-end.ts'
import { formatPhone } from './format.ts'

/** The text for an action of the user, and for the same action of an administrator. */
interface Sentence {
  readonly byUser: string
  readonly byAdmin?: string
  /** The text if an administrator generated a link and the server sent it by email. */
  readonly sent?: string
}

const sentences: Readonly<Record<string, Sentence>> = {
  login: { byUser: 'Signed in' },
  logout: { byUser: 'Signed out' },
  invite_accepted: { byUser: 'Accepted the invitation' },
  user_signedup: { byUser: 'Signed up', byAdmin: 'The account was created' },
  user_invited: { byUser: 'Was invited', byAdmin: 'An invitation was sent' },
  user_deleted: { byUser: 'Deleted the account', byAdmin: 'The account was deleted' },
  token_issued: {
    byUser: 'An access token was issued',
    byAdmin: 'An access token was issued to an administrator',
  },
  token_revoked: { byUser: 'Revoked a session', byAdmin: 'A session was revoked' },
  token_refreshed: { byUser: 'Refreshed a token' },
  oauth_consent_granted: { byUser: 'Granted access to an OAuth client' },
  oauth_consent_revoked: {
    byUser: 'Revoked the access of an OAuth client',
    byAdmin: 'The access of an OAuth client was revoked',
  },
  oauth_client_created: { byUser: 'Registered an OAuth client' },
  oauth_client_updated: { byUser: 'Changed an OAuth client' },
  oauth_client_deleted: { byUser: 'Removed an OAuth client' },
  api_key_created: { byUser: 'Created an API key', byAdmin: 'An API key was created' },
  api_key_rotated: {
    byUser: 'Replaced the secret of an API key',
    byAdmin: 'The secret of an API key was replaced',
  },
  api_key_revoked: { byUser: 'Revoked an API key', byAdmin: 'An API key was revoked' },
  service_account_created: { byUser: 'Created a service account' },
  service_account_deleted: { byUser: 'Deleted a service account' },
  custom_provider_created: { byUser: 'Added a custom provider' },
  custom_provider_updated: { byUser: 'Changed a custom provider' },
  custom_provider_deleted: { byUser: 'Deleted a custom provider' },
  sso_provider_created: { byUser: 'Added an SSO provider' },
  sso_provider_updated: { byUser: 'Changed an SSO provider' },
  sso_provider_deleted: { byUser: 'Deleted an SSO provider' },
  scim_token_created: { byUser: 'Created a SCIM token' },
  scim_token_deleted: { byUser: 'Deleted a SCIM token' },
  test_email_requested: { byUser: 'Sent a test email' },
  user_modified: { byUser: 'Changed the account', byAdmin: 'The account was changed' },
  user_recovery_requested: {
    byUser: 'Requested a sign-in or recovery link',
    byAdmin: 'A sign-in or recovery link was generated',
    sent: 'A sign-in or recovery email was sent',
  },
  user_reauthenticate_requested: { byUser: 'Requested a reauthentication code' },
  user_confirmation_requested: {
    byUser: 'Requested a confirmation link',
    byAdmin: 'A confirmation link was generated',
    sent: 'A confirmation email was sent',
  },
  user_repeated_signup: { byUser: 'Signed up again with the same address' },
  user_updated_password: { byUser: 'Changed the password' },
  identity_linked: { byUser: 'Linked an identity' },
  identity_unlinked: { byUser: 'Unlinked an identity' },
  passkey_created: { byUser: 'Added a passkey' },
  passkey_updated: { byUser: 'Renamed a passkey' },
  passkey_deleted: { byUser: 'Removed a passkey', byAdmin: 'A passkey was removed' },
  factor_in_progress: { byUser: 'Started to set up a second factor' },
  factor_unenrolled: { byUser: 'Removed a second factor' },
  factor_deleted: { byUser: 'Removed a second factor', byAdmin: 'A second factor was removed' },
  factor_updated: { byUser: 'Changed a second factor', byAdmin: 'A second factor was changed' },
  challenge_created: { byUser: 'Requested a second-factor challenge' },
  verification_attempted: { byUser: 'Attempted to verify a second factor' },
  verification_succeeded: { byUser: 'Verified a second factor' },
  recovery_codes_generated: { byUser: 'Generated new recovery codes' },
}

const failureReasons: Readonly<Record<string, string>> = {
  wrong_password: 'wrong password',
  wrong_code: 'wrong or expired code',
  wrong_passkey: 'invalid passkey',
  unconfirmed: 'address not confirmed',
  banned: 'banned',
  second_factor: 'second factor failed',
  limited: 'too many attempts',
}

/** Returns the reason of a failed sign-in as text. */
export function toFailureReason(reason: unknown): string {
  return failureReasons[String(reason)] ?? String(reason)
}

/** Describes an entry, such as `Signed in with google`. Unknown actions are shown by name. */
export function toSentence({ payload }: AuditEntry, userId: string): string {
  const { action, traits = {}, actor_id: actorId } = payload
  if (action === 'login_failed') {
    const times = Number(traits['count']) > 1 ? `, ${traits['count']} times` : ''
    return `Failed to sign in: ${toFailureReason(traits['reason'])}${times}`
  }
  const { banned_until: bannedUntil } = traits
  if (action === 'user_modified' && typeof bannedUntil === 'string') {
    return bannedUntil === '' ? 'The ban was lifted' : `Banned ${formatBanEnd(bannedUntil)}`
  }
  if (traits['impersonation'] === true) return 'A link to impersonate the user was generated'
  const sentence = sentences[action]
  if (!sentence) return action
  const isOwn = actorId === userId
  if (!isOwn && traits['sent'] === true && sentence.sent) return sentence.sent
  const text = isOwn ? sentence.byUser : (sentence.byAdmin ?? sentence.byUser)
  const { provider, channel } = traits
  if (isOwn && typeof provider === 'string') return `${text} with ${provider}`
  if (isOwn && typeof channel === 'string') return `${text} by ${channel}`
  return text
}

/** The name in an event, which is an email address, a phone number or the name of a role. */
export function formatEventName(name: string): string {
  return /^\d{7,15}$/.test(name) ? formatPhone(name) : name
}

/** Returns who acted on the user's account; undefined if it was the user. */
export function toActor({ payload }: AuditEntry, userId: string): string | undefined {
  if (payload.actor_id === userId) return undefined
  const { admin } = payload.traits ?? {}
  const name = formatEventName(payload.actor_username)
  return typeof admin === 'string' ? `${admin} (${name})` : name
}

/** An action or a reason with its text, for filters. */
export interface Choice {
  readonly name: string
  readonly text: string
}

export const actionChoices: readonly Choice[] = Object.entries(sentences).map(
  ([name, { byUser }]) => ({ name, text: byUser }),
)

export const reasonChoices: readonly Choice[] = Object.entries(failureReasons).map(
  ([name, text]) => ({ name, text: `Failed: ${text}` }),
)
