import type { AuditEvent } from '../../../console/routes/events.ts'
import { formatEventName } from '../../audit-sentences.ts'

const nilId = '00000000-0000-0000-0000-000000000000'

/** The ID of the account that an event is about; undefined if there is none. */
export function findUserId({ user: { id } }: AuditEvent): string | undefined {
  return id === '' || id === nilId ? undefined : id
}

/** The user of an event in words. Administrators without an account have the name of their role. */
export function toName({ user: { id, name } }: AuditEvent): string {
  if (name !== '') return formatEventName(name)
  return id === '' ? 'No email or phone number' : id.slice(0, 8)
}

export function isFailure({ entry }: AuditEvent): boolean {
  return entry.payload.action === 'login_failed'
}

/** The text of a trait; undefined if the event does not have it. */
export function findTrait({ entry }: AuditEvent, name: string): string | undefined {
  const value = entry.payload.traits?.[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}
