import { randomUUID } from 'node:crypto'
import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'
import { type AuditAction, toAdminEntry } from '../audit/audit.ts'
import { parseLabel } from './keys.ts'
import { addServiceAccount, removeServiceAccount, type ServiceAccountRow } from './statements.ts'

interface Administrator {
  readonly adminRole: string
  readonly ip: string
}

export interface ServiceAccountFields {
  readonly name?: string
  readonly role?: string
  readonly plan?: string
}

const defaultRole = 'service_account'

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

function toChange(
  { now }: Services,
  action: AuditAction,
  id: string,
  { adminRole, ip }: Administrator,
) {
  const audit = toAdminEntry(action, adminRole, { service_account_id: id })
  return { id, now: new Date(now()), ip, audit }
}

/** @throws {ApiError} */
function requireAccount<T>(account: T | undefined): T {
  if (account !== undefined) return account
  throw new ApiError('service_account_not_found', 'Service account not found')
}
