import type { EventLog } from '@portcullis/service-kit/log'
import type { AuditNotice } from '../db/audit-notices.ts'
import { currentCall } from './watched-call.ts'

/** Audit entries as lines of the log (reference 15). */
export function createAuditLog(
  log: Pick<EventLog, 'event'>,
): (entries: readonly AuditNotice[]) => void {
  return (entries) => {
    const call = currentCall.getStore()
    for (const entry of entries) {
      call?.audited.push(entry)
      log.event('info', 'auth_audit_event', {
        component: 'audit',
        audit_log_id: entry.id,
        request_id: call?.requestId,
        user_agent: call?.userAgent,
        ip_address: entry.ip,
        ...entry.payload,
      })
    }
  }
}
