import type { Metadata } from '../users/metadata.ts'
import { type AuditAction, type AuditEntry, toAdminEntry } from './audit.ts'

interface Subject {
  readonly id: string
  readonly email: string | null
  readonly phone: string | null
}

/** What an administrator did to a user. */
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
