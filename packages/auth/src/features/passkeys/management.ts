import { type ApiError, invalid } from '../../errors.ts'
import type { Services } from '../../services.ts'
import type { Metadata } from '../../stored-json.ts'
import { type AuditEntry, toAuditEntry, toSubjectEntry } from '../audit/audit.ts'
import type { Person } from '../sessions/assurance-level.ts'
import { getUser } from '../users/user-record.ts'
import { requireManager, requirePasskeys } from './ceremony.ts'
import {
  listPasskeys,
  type PasskeyChange,
  type PasskeyNaming,
  type PasskeyRow,
  removePasskey,
  renamePasskey,
} from './statements.ts'

/** The passkey as it is returned to clients. */
export function toPasskeyRecord(passkey: PasskeyRow): Metadata {
  const { id, friendly_name, created_at, last_used_at } = passkey
  return { id, friendly_name, created_at, ...(last_used_at !== null && { last_used_at }) }
}

/** @throws {ApiError} */
export async function findOwnPasskeys(
  services: Services,
  person: Person,
): Promise<readonly PasskeyRow[]> {
  requirePasskeys(services)
  return services.db.run(listPasskeys, { userId: person.id })
}

interface OwnPasskey {
  readonly person: Person
  readonly passkeyId: string
  readonly ip: string
}

/** @throws {ApiError} */
export async function renameOwnPasskey(
  services: Services,
  { person, passkeyId, friendlyName, ip }: OwnPasskey & { readonly friendlyName: string },
): Promise<PasskeyRow> {
  requirePasskeys(services)
  requireManager(person)
  const naming: PasskeyNaming = {
    id: passkeyId,
    user_id: person.id,
    friendly_name: friendlyName,
    now: new Date(services.now()),
    ip,
    audit: toAuditEntry('passkey_updated', person, { passkey_id: passkeyId }),
  }
  const [renamed] = await services.db.run(renamePasskey, naming)
  if (renamed === undefined) throw passkeyNotFound()
  return renamed
}

/** @throws {ApiError} */
export async function removeOwnPasskey(
  services: Services,
  { person, passkeyId, ip }: OwnPasskey,
): Promise<void> {
  requirePasskeys(services)
  requireManager(person)
  const audit = toAuditEntry('passkey_deleted', person, { passkey_id: passkeyId })
  await remove(services, { userId: person.id, passkeyId, ip, audit })
}

/**
 * For administrators. Works even if passkeys are disabled, because existing ones are kept; so does
 * `removePasskeyOf`.
 * @throws {ApiError}
 */
export async function findPasskeysOf(
  { db }: Services,
  userId: string,
): Promise<readonly PasskeyRow[]> {
  const passkeys = await db.run(listPasskeys, { userId })
  // An empty list may mean that the user does not exist.
  if (passkeys.length === 0) await getUser({ db }, userId)
  return passkeys
}

/** @throws {ApiError} */
export async function removePasskeyOf(
  services: Services,
  request: { userId: string; passkeyId: string; adminRole: string; ip: string },
): Promise<void> {
  const { userId, passkeyId, adminRole, ip } = request
  const user = await getUser(services, userId)
  const audit = toSubjectEntry('passkey_deleted', adminRole, user, { passkey_id: passkeyId })
  await remove(services, { userId, passkeyId, ip, audit })
}

interface Removal {
  readonly userId: string
  readonly passkeyId: string
  readonly ip: string
  readonly audit: AuditEntry
}

async function remove({ db, now }: Services, removal: Removal): Promise<void> {
  const { userId, passkeyId, ip, audit } = removal
  const change: PasskeyChange = {
    id: passkeyId,
    user_id: userId,
    now: new Date(now()),
    ip,
    audit,
  }
  const [removed] = await db.run(removePasskey, change)
  if (removed === undefined) throw passkeyNotFound()
}

export function passkeyNotFound(): ApiError {
  return invalid('Passkey not found', { status: 404 })
}
