import { randomBytes } from 'node:crypto'
import { nilId } from '../../db/nil-id.ts'
import type { Metadata } from '../../stored-json.ts'
import type { UserRow } from '../users/statements/user-row.ts'
import { describeRequest } from './audited-request.ts'

/** All actions of the audit log, with the type of their entries. */
export const auditActions = {
  login: 'account',
  logout: 'account',
  invite_accepted: 'account',
  user_signedup: 'team',
  user_invited: 'team',
  user_deleted: 'team',
  token_revoked: 'token',
  token_refreshed: 'token',
  oauth_client_created: 'team',
  oauth_client_updated: 'team',
  oauth_client_deleted: 'team',
  sso_provider_created: 'team',
  sso_provider_updated: 'team',
  sso_provider_deleted: 'team',
  scim_token_created: 'team',
  scim_token_deleted: 'team',
  oauth_consent_granted: 'account',
  oauth_consent_revoked: 'account',
  api_key_created: 'user',
  api_key_rotated: 'user',
  api_key_revoked: 'user',
  service_account_created: 'team',
  service_account_deleted: 'team',
  custom_provider_created: 'team',
  custom_provider_updated: 'team',
  custom_provider_deleted: 'team',
  test_email_requested: 'team',
  // Its type is not token, because searches leave out entries of that type, most of which are refreshes.
  token_issued: 'team',
  user_modified: 'user',
  user_recovery_requested: 'user',
  user_reauthenticate_requested: 'user',
  user_confirmation_requested: 'user',
  user_repeated_signup: 'user',
  user_updated_password: 'user',
  identity_linked: 'user',
  identity_unlinked: 'user',
  passkey_created: 'user',
  passkey_updated: 'user',
  passkey_deleted: 'user',
  factor_in_progress: 'factor',
  factor_unenrolled: 'factor',
  factor_deleted: 'factor',
  factor_updated: 'factor',
  challenge_created: 'factor',
  verification_attempted: 'factor',
  verification_succeeded: 'factor',
  recovery_codes_generated: 'factor',
} as const

export type AuditAction = keyof typeof auditActions

export interface AuditEntry {
  readonly id: string
  readonly payload: Metadata
}

type Actor = Pick<UserRow, 'id' | 'email' | 'phone' | 'is_sso_user'>

/** @param traits must not contain a secret, a code or a token. */
export function toAuditEntry(action: AuditAction, actor: Actor, traits: Metadata = {}): AuditEntry {
  return {
    id: createAuditId(),
    payload: {
      actor_id: actor.id,
      actor_via_sso: actor.is_sso_user,
      actor_username: actor.phone ?? actor.email ?? '',
      ...toAuditPart(action),
      ...(Object.keys(traits).length > 0 && { traits }),
    },
  }
}

/** The part of a payload that does not depend on the user. */
export interface AuditPart {
  readonly action: AuditAction
  readonly log_type: string
  readonly user_agent?: string
  readonly request_id?: string
}

/** For statements that read the user themselves and add the rest of the payload. */
export function toAuditPart(action: AuditAction): AuditPart {
  const { user_agent, request_id } = describeRequest()
  return {
    action,
    log_type: auditActions[action],
    ...(user_agent !== '' && { user_agent }),
    ...(request_id !== '' && { request_id }),
  }
}

/** An entry for an action of an administrator, who has no account here. */
export function toAdminEntry(action: AuditAction, role: string, traits: Metadata): AuditEntry {
  return toAuditEntry(action, { id: nilId, email: role, phone: null, is_sso_user: false }, traits)
}

interface Subject {
  readonly id: string
  readonly email: string | null
  readonly phone: string | null
}

/** An entry for an action of an administrator that concerns a user. */
export function toSubjectEntry(
  action: AuditAction,
  adminRole: string,
  { id, email, phone }: Subject,
  traits: Metadata = {},
): AuditEntry {
  return toAdminEntry(action, adminRole, {
    user_id: id,
    ...(email !== null && { user_email: email }),
    ...(phone !== null && { user_phone: phone }),
    ...traits,
  })
}

let lastMs = 0
let counter = 0

/**
 * Returns an ID that is greater than all earlier IDs of this process (UUID version 7, RFC 9562,
 * section 6.2). Entries of one request often have the same time, and this keeps them in order.
 */
export function createAuditId(): string {
  const nowMs = Date.now()
  counter = nowMs > lastMs ? 0 : counter + 1
  lastMs = Math.max(lastMs, nowMs)
  if (counter > 0xfff) {
    lastMs += 1
    counter = 0
  }
  const time = lastMs.toString(16).padStart(12, '0')
  const random = randomBytes(8)
  random.writeUInt8((random.readUInt8(0) & 0x3f) | 0x80, 0)
  const rest = random.toString('hex')
  const place = counter.toString(16).padStart(3, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${place}-${rest.slice(0, 4)}-${rest.slice(4)}`
}
