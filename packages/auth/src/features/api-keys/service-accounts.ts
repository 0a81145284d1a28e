import { randomUUID } from 'node:crypto'
import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'
import { type Administrator, toAdminAction } from '../audit/admin-action.ts'
import type { AuditAction } from '../audit/audit.ts'
import { parseLabel } from './keys.ts'
import {
  addServiceAccount,
  listServiceAccounts,
  removeServiceAccount,
  type ServiceAccountRow,
} from './statements.ts'

export interface ServiceAccountFields {
  readonly name?: string
  readonly role?: string
  readonly plan?: string
}

const defaultRole = 'service_account'

/** Oldest first, at most 1,000. */
export async function getServiceAccounts({ db }: Services): Promise<readonly ServiceAccountRow[]> {
  return await db.run(listServiceAccounts)
}

/** @throws {ApiError} */
export async function createServiceAccount(
  services: Services,
  { name, role = defaultRole, plan }: ServiceAccountFields,
  admin: Administrator,
): Promise<ServiceAccountRow> {
  const id = randomUUID()
  const [account] = await services.db.run(addServiceAccount, {
    name: parseLabel('name', name),
    role: parseLabel('role', role),
    plan: plan === undefined ? null : parseLabel('plan', plan),
    ...toChange(services, 'service_account_created', id, admin),
  })
  return requireAccount(account)
}

/** Its keys are revoked. @throws {ApiError} */
export async function deleteServiceAccount(
  services: Services,
  id: string,
  admin: Administrator,
): Promise<void> {
  const change = toChange(services, 'service_account_deleted', id, admin)
  const [removed] = await services.db.run(removeServiceAccount, change)
  requireAccount(removed)
}

function toChange(services: Services, action: AuditAction, id: string, admin: Administrator) {
  return { id, ...toAdminAction(services, action, admin, { service_account_id: id }) }
}

/** @throws {ApiError} */
function requireAccount<T>(account: T | undefined): T {
  if (account !== undefined) return account
  throw new ApiError('service_account_not_found', 'Service account not found')
}
