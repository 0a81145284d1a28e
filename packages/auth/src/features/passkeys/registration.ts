import { randomUUID } from 'node:crypto'
import type { Queries } from '../../db/database.ts'
import { isTaken } from '../../db/database-errors.ts'
import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'
import type { Metadata } from '../../stored-json.ts'
import { toAuditEntry } from '../audit/audit.ts'
import type { Person } from '../sessions/assurance-level.ts'
import type { Client } from '../sessions/sessions.ts'
import { userNotFound } from '../users/user-record.ts'
import {
  type CeremonyAnswer,
  requireChallenge,
  requirePasskeys,
  requireRegistrant,
  startCeremony,
  verifyOrRefuse,
} from './ceremony.ts'
import {
  addPasskey,
  listPasskeys,
  lockPasskeyOwner,
  type NewPasskey,
  type PasskeyRow,
  takeRegistrationChallenge,
} from './statements.ts'
import { createCreationOptions, verifyCreation } from './webauthn.ts'

/** Returns the options that the browser passes to an authenticator. @throws {ApiError} */
export async function startRegistration(services: Services, person: Person): Promise<Metadata> {
  const { db, config } = services
  requirePasskeys(services)
  requireRegistrant(person)
  const { mostPerUser, relyingParty, challengeExpiresInMs } = config.passkeys
  const present = await db.run(listPasskeys, { userId: person.id })
  if (present.length >= mostPerUser) throw tooMany()
  const options = await createCreationOptions({
    relyingParty,
    userHandle: person.id,
    user: person,
    exclude: present.map((passkey) => ({
      id: passkey.credential_id.toString('base64url'),
      transports: passkey.transports,
    })),
    isDiscoverable: true,
    timeoutMs: challengeExpiresInMs,
  })
  return startCeremony(services, 'registration', person.id, options)
}

/** @throws {ApiError} */
export async function finishRegistration(
  services: Services,
  person: Person,
  { challengeId, credential }: CeremonyAnswer,
  client: Client,
): Promise<PasskeyRow> {
  const { db, config } = services
  // Checked before the challenge is used up, so that it can still be answered after verifying a
  // second factor.
  requirePasskeys(services)
  requireRegistrant(person)
  const { mostPerUser, relyingParty } = config.passkeys
  const nowMs = services.now()
  const [taken] = await db.run(takeRegistrationChallenge, {
    id: challengeId,
    userId: person.id,
  })
  const { challenge } = requireChallenge(taken, nowMs)
  const made = await verifyOrRefuse(verifyCreation({ relyingParty, challenge }, credential))
  const id = randomUUID()
  const passkey: NewPasskey = {
    id,
    user_id: person.id,
    credential_id: toHex(made.id),
    public_key: toHex(made.publicKey),
    sign_count: made.counter,
    transports: made.transports,
    aaguid: made.aaguid,
    is_syncable: made.isSyncable,
    is_backed_up: made.isBackedUp,
    friendly_name: findAuthenticatorName(made.aaguid),
    most: mostPerUser,
    now: new Date(nowMs),
    ip: client.ip,
    audit: toAuditEntry('passkey_created', person, { passkey_id: id }),
  }
  try {
    return await db.transaction((queries) => add(queries, passkey))
  } catch (error) {
    if (!isTaken(error, 'webauthn_credentials_credential_id')) throw error
    throw new ApiError('webauthn_credential_exists', 'This credential is already registered')
  }
}

/**
 * Two statements, so that the second one counts passkeys that were added while the first one waited
 * for the lock.
 */
async function add(queries: Queries, passkey: NewPasskey): Promise<PasskeyRow> {
  const [owner] = await queries.run(lockPasskeyOwner, { userId: passkey.user_id })
  if (owner === undefined) throw userNotFound()
  const [added] = await queries.run(addPasskey, passkey)
  if (added === undefined) throw tooMany()
  return added
}

function tooMany(): ApiError {
  return new ApiError('too_many_passkeys', 'Maximum number of passkeys reached')
}

function toHex(text: string): string {
  return Buffer.from(text, 'base64url').toString('hex')
}

/** Names of authenticators by AAGUID. */
const names: Readonly<Record<string, string>> = {
  'ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4': 'Google Password Manager',
  'adce0002-35bc-c60a-648b-0b25f1f05503': 'Chrome on Mac',
  '771b48fd-d3d4-4f74-9232-fc157ab0507a': 'Edge on Mac',
  'fbfc3007-154e-4ecc-8c0b-6e020557d7bd': 'iCloud Keychain',
  'dd4ec289-e01d-41c9-bb89-70fa845d4bf2': 'iCloud Keychain (Managed)',
  '08987058-cadc-4b81-b6e1-30de50dcbe96': 'Windows Hello',
  '9ddd1817-af5a-4672-a2b9-3e3dd95000a9': 'Windows Hello',
  '6028b017-b1d4-4c02-b4b3-afcdafc96bb2': 'Windows Hello',
  '53414d53-554e-4700-0000-000000000000': 'Samsung Pass',
  'bada5566-a7aa-401f-bd96-45619a55120d': '1Password',
  'd548826e-79b4-db40-a3d8-11116f7e8349': 'Bitwarden',
  '531126d6-e717-415c-9320-3d9aa6981239': 'Dashlane',
  'b78a0a55-6ef8-d246-a042-ba0f6d55050c': 'LastPass',
  'b84e4048-15dc-4dd0-8640-f4f60813c8af': 'NordPass',
  '0ea242b4-43c4-4a1b-8b17-dd6d0b6baec6': 'Keeper',
  'f3809540-7f14-49c1-a8b3-8f813b225541': 'Enpass',
  '50726f74-6f6e-5061-7373-50726f746f6e': 'Proton Pass',
  'fdb141b2-5d84-443e-8a35-4698c205a502': 'KeePassXC',
  'cb69481e-8ff7-4039-93ec-0a2729a154a8': 'YubiKey 5 Series',
  'ee882879-721c-4913-9775-3dfcce97072a': 'YubiKey 5 Series',
  '2fc0579f-8113-47ea-b116-bb5a8db9202a': 'YubiKey 5 Series',
}

export function findAuthenticatorName(aaguid: string): string {
  const known = aaguid.toLowerCase()
  return (Object.hasOwn(names, known) ? names[known] : undefined) ?? 'Passkey'
}
