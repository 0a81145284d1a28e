import { isTaken } from '../../db/violations.ts'
import { ApiError, invalid } from '../../errors.ts'
import type { Services } from '../../services.ts'
import { userNotFound } from '../admin/update-user.ts'
import { toSubjectEntry } from '../audit/admin-audit.ts'
import type { AuditAction, AuditEntry } from '../audit/audit.ts'
import { findUserById } from '../users/statements/find-users.ts'
import type { FactorRow, UserRow } from '../users/statements/user-row.ts'
import { factorNotFound, findOwnFactor, nameConflict } from './member.ts'
import { remove } from './remove.ts'
import { type FactorUpdate, updateFactor } from './statements/factors.ts'

export interface FactorOrder {
  readonly userId: string
  readonly factorId: string
  readonly adminRole: string
  readonly ip: string
}

/** @throws {ApiError} */
export async function deleteFactor(services: Services, order: FactorOrder): Promise<FactorRow> {
  const { userId, factorId, ip } = order
  const { audit } = await find(services, order, 'factor_deleted')
  return remove(services, { userId, factorId, ip, audit })
}

export interface FactorChange extends FactorOrder {
  /** Undefined stays, as the next. */
  readonly friendlyName: string | undefined
  readonly phone: string | undefined
}

/** @throws {ApiError} */
export async function changeFactor(services: Services, change: FactorChange): Promise<FactorRow> {
  const { userId, factorId, ip, friendlyName, phone } = change
  const { factor, audit } = await find(services, change, 'factor_updated')
  if (phone !== undefined && factor.factor_type !== 'phone') {
    throw invalid('Only a phone factor has a phone number')
  }
  const row: FactorUpdate = {
    factor_id: factorId,
    user_id: userId,
    friendly_name: friendlyName ?? null,
    phone: phone ?? null,
    now: new Date(services.now()),
    ip,
    audit,
  }
  try {
    const [updated] = await services.db.run<FactorRow & Record<string, unknown>>(updateFactor, [
      row,
    ])
    if (updated === undefined) throw factorNotFound()
    return updated
  } catch (error) {
    if (isTaken(error, 'mfa_factors_name')) throw nameConflict(friendlyName ?? '')
    if (!isTaken(error, 'mfa_factors_phone')) throw error
    throw new ApiError('phone_exists', 'Another factor of this user has that phone number')
  }
}

async function find(
  { db }: Services,
  { userId, factorId, adminRole }: FactorOrder,
  action: AuditAction,
): Promise<{ readonly factor: FactorRow; readonly audit: AuditEntry }> {
  const [user] = await db.run<UserRow>(findUserById, [userId])
  if (user === undefined) throw userNotFound()
  const factor = findOwnFactor(user, factorId)
  const traits = { factor_id: factorId, factor_type: factor.factor_type }
  return { factor, audit: toSubjectEntry(action, adminRole, user, traits) }
}
