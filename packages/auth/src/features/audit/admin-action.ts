import type { Services } from '../../services.ts'
import type { Metadata } from '../../stored-json.ts'
import { type AuditAction, type AuditEntry, toAdminEntry } from './audit.ts'

/** The administrator who makes a change. */
export interface Administrator {
  readonly adminRole: string
  readonly ip: string
}

/** The parameters with which a statement records the action of an administrator. */
export interface AdminAction {
  readonly now: Date
  readonly ip: string
  readonly audit: AuditEntry
}

/** @param traits what the action concerns. */
export function toAdminAction(
  { now }: Pick<Services, 'now'>,
  action: AuditAction,
  { adminRole, ip }: Administrator,
  traits: Metadata,
): AdminAction {
  return { now: new Date(now()), ip, audit: toAdminEntry(action, adminRole, traits) }
}

/** The administrator who sends a request. */
export function toAdministrator({
  adminRole,
  client,
}: {
  readonly adminRole: string
  readonly client: { readonly ip: string }
}): Administrator {
  return { adminRole, ip: client.ip }
}
