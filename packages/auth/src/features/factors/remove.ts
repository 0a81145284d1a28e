import { ApiError } from '../../errors.ts'
import { planNotices } from '../../messages/requests/notifications.ts'
import type { WithNotices } from '../../messages/statements/notices.ts'
import type { Services } from '../../services.ts'
import { type AuditEntry, toAuditEntry } from '../audit/audit.ts'
import type { FactorRow } from '../users/statements/user-row.ts'
import { isVerified } from './assurance-level.ts'
import { methodsByType } from './index.ts'
import { factorNotFound, findOwnFactor, type Member } from './member.ts'
import { type FactorRemoval, removeFactor } from './statements/factor-removal.ts'

/** Who has a verified factor removes it only after showing one. @throws {ApiError} */
export async function unenroll(
  services: Services,
  { member, factorId, ip }: { member: Member; factorId: string; ip: string },
): Promise<FactorRow> {
  const factor = findOwnFactor(member, factorId)
  if (isVerified(factor) && member.aal !== 'aal2') {
    throw new ApiError('insufficient_aal', 'AAL2 required to unenroll verified factor', {
      status: 422,
    })
  }
  const audit = toAuditEntry('factor_unenrolled', member, {
    factor_id: factor.id,
    factor_type: factor.factor_type,
    factor_status: factor.status,
    ...(member.session_id && { session_id: member.session_id }),
  })
  const facts = { FactorType: factor.factor_type }
  const notices = isVerified(factor)
    ? planNotices(services, 'mfa_factor_unenrolled', member, facts)
    : []
  const removed = await remove(services, { userId: member.id, factorId, ip, audit, notices })
  if (notices.length > 0) services.wakeMessages()
  return removed
}

export interface Removal extends WithNotices {
  readonly userId: string
  readonly factorId: string
  readonly ip: string
  readonly audit: AuditEntry
}

/** Sessions that rest on the factor drop to aal1. @throws {ApiError} */
export async function remove(services: Services, removal: Removal): Promise<FactorRow> {
  const { userId, factorId, ip, audit, notices = [] } = removal
  const row: FactorRemoval = {
    factor_id: factorId,
    user_id: userId,
    methods: methodsByType,
    now: new Date(services.now()),
    ip,
    audit,
    notices,
  }
  const [removed] = await services.db.run<FactorRow>(removeFactor, [row])
  if (removed === undefined) throw factorNotFound()
  return removed
}
