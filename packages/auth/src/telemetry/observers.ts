import type { EventLog } from '@portcullis/service-kit/log/log'
import type { AuditNotice } from '../db/audit-notices.ts'
import type { SignInLog } from '../features/audit/sign-in-log.ts'
import type { Passwords } from '../passwords/passwords.ts'
import type { Hashing, Telemetry } from './telemetry.ts'
import { type CallWatch, currentCall } from './watched-call.ts'

/** Writes audit entries to the log. */
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

const signInRoutes: ReadonlySet<string> = new Set([
  '/token',
  '/verify',
  '/factors/{factor_id}/verify',
  '/factors/recovery-codes/verify',
])

/** Records sign-ins that the limits per address reject before they reach an endpoint. */
export function noteLimitedSignIns(log: SignInLog, audience: string): CallWatch {
  return {
    begin: (call) => () => {
      const { route, failure, signInFailure, grantType, address: ip } = call
      if (failure?.code !== 'over_request_rate_limit' || signInFailure !== undefined) return
      if (!signInRoutes.has(route) || grantType === 'refresh_token') return
      // The connection closes outside the context of its request.
      currentCall.run(call, () =>
        log.noteFailure({ reason: 'limited', name: '', audience, userId: undefined, ip }),
      )
      call.signInFailure = { reason: 'limited', userId: undefined }
    },
  }
}

/**
 * Counts passwords that are hashed and checked. The difference between submitted and completed ones
 * is the length of the queue.
 */
export function countPasswords(
  passwords: Passwords,
  { countHashing }: Pick<Telemetry, 'countHashing'>,
): Passwords {
  const counted = async <Result>(kind: Hashing, work: () => Promise<Result>): Promise<Result> => {
    countHashing(kind, 'submitted')
    try {
      return await work()
    } finally {
      countHashing(kind, 'completed')
    }
  }
  return {
    ...passwords,
    hash: (password) => counted('hash_password', () => passwords.hash(password)),
    check: (password, owner) =>
      counted('compare_hash_and_password', () => passwords.check(password, owner)),
  }
}
