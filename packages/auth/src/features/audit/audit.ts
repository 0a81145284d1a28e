import type { Metadata } from '../users/metadata.ts'
import type { UserRow } from '../users/statements/user-row.ts'
import { createAuditId } from './audit-ids.ts'

/** Every action of the audit log, with the kind of entry it makes. */
export const auditActions = {
  login: 'account',
  logout: 'account',
  invite_accepted: 'account',
  user_signedup: 'team',
  user_invited: 'team',
  user_deleted: 'team',
  token_revoked: 'token',
  token_refreshed: 'token',
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

/** @param traits never a secret, a code or a token. */
export function toAuditEntry(action: AuditAction, actor: Actor, traits: Metadata = {}): AuditEntry {
  return {
    id: createAuditId(),
    payload: {
      actor_id: actor.id,
      actor_via_sso: actor.is_sso_user,
      actor_username: actor.phone ?? actor.email ?? '',
      action,
      log_type: auditActions[action],
      ...(Object.keys(traits).length > 0 && { traits }),
    },
  }
}

/** What an administrator did, who has no account here. */
export function toAdminEntry(action: AuditAction, role: string, traits: Metadata): AuditEntry {
  const nobody = '00000000-0000-0000-0000-000000000000'
  return toAuditEntry(action, { id: nobody, email: role, phone: null, is_sso_user: false }, traits)
}
