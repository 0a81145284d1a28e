import type { AuditEntry } from '../console/routes/users-audit.ts'
import { formatTime } from './format.ts'

/** What the user did, and how it reads when an administrator did it. */
interface Sentence {
  readonly own: string
  readonly byAdmin?: string
}

const sentences: Readonly<Record<string, Sentence>> = {
  login: { own: 'Signed in' },
  logout: { own: 'Signed out' },
  invite_accepted: { own: 'Accepted the invitation' },
  user_signedup: { own: 'Signed up', byAdmin: 'The account was created' },
  user_invited: { own: 'Was invited', byAdmin: 'An invitation was made' },
  user_deleted: { own: 'Deleted the account', byAdmin: 'The account was deleted' },
  token_revoked: { own: 'Ended a session', byAdmin: 'A session was ended' },
  token_refreshed: { own: 'Stayed signed in' },
  user_modified: { own: 'Changed the account', byAdmin: 'The account was changed' },
  user_recovery_requested: {
    own: 'Asked for a link to get back in',
    byAdmin: 'A link to get in was generated',
  },
  user_reauthenticate_requested: { own: 'Asked for a code to prove who they are' },
  user_confirmation_requested: {
    own: 'Was sent a confirmation',
    byAdmin: 'A confirmation link was generated',
  },
  user_repeated_signup: { own: 'Signed up a second time' },
  user_updated_password: { own: 'Changed the password' },
  identity_linked: { own: 'Linked another way to sign in' },
  identity_unlinked: { own: 'Unlinked a way to sign in' },
  passkey_created: { own: 'Added a passkey' },
  passkey_updated: { own: 'Renamed a passkey' },
  passkey_deleted: { own: 'Removed a passkey', byAdmin: 'A passkey was removed' },
  factor_in_progress: { own: 'Began to set up a second factor' },
  factor_unenrolled: { own: 'Removed a second factor' },
  factor_deleted: { own: 'Removed a second factor', byAdmin: 'A second factor was removed' },
  factor_updated: { own: 'Changed a second factor', byAdmin: 'A second factor was changed' },
  challenge_created: { own: 'Was asked for a second factor' },
  verification_attempted: { own: 'Tried a code of a second factor' },
  verification_succeeded: { own: 'Proved a second factor' },
  recovery_codes_generated: { own: 'Made new recovery codes' },
}

const failureReasons: Readonly<Record<string, string>> = {
  wrong_password: 'wrong password',
  wrong_code: 'wrong or expired code',
  wrong_passkey: 'passkey not accepted',
  unconfirmed: 'address not confirmed',
  banned: 'banned',
  second_factor: 'second factor failed',
  limited: 'too many attempts',
}

/** Why a sign-in failed, in words. */
export function toFailureReason(reason: unknown): string {
  return failureReasons[String(reason)] ?? String(reason)
}

/** `Signed in with google`. An action that we do not know is told as it is. */
export function toSentence({ payload }: AuditEntry, userId: string): string {
  const { action, traits = {}, actor_id: actorId } = payload
  if (action === 'login_failed') {
    const times = Number(traits['count']) > 1 ? `, ${traits['count']} times` : ''
    return `Failed to sign in: ${toFailureReason(traits['reason'])}${times}`
  }
  const { banned_until: bannedUntil } = traits
  if (action === 'user_modified' && typeof bannedUntil === 'string') {
    return bannedUntil === '' ? 'The ban was lifted' : `Banned until ${formatTime(bannedUntil)}`
  }
  const sentence = sentences[action]
  if (!sentence) return action
  const isOwn = actorId === userId
  const text = isOwn ? sentence.own : (sentence.byAdmin ?? sentence.own)
  const { provider, channel } = traits
  if (isOwn && typeof provider === 'string') return `${text} with ${provider}`
  if (isOwn && typeof channel === 'string') return `${text} by ${channel}`
  return text
}

/** Undefined: the user. */
export function toActor({ payload }: AuditEntry, userId: string): string | undefined {
  if (payload.actor_id === userId) return undefined
  const { admin } = payload.traits ?? {}
  return typeof admin === 'string' ? `${admin} (${payload.actor_username})` : payload.actor_username
}
