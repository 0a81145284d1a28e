import { randomUUID } from 'node:crypto'
import type { Queries } from '../../db/database.ts'
import { isTaken } from '../../db/violations.ts'
import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'
import { userNotFound } from '../admin/update-user.ts'
import { toAuditEntry } from '../audit/audit.ts'
import type { Person } from '../factors/assurance-level.ts'
import type { Client } from '../sessions/sessions.ts'
import type { Metadata } from '../users/metadata.ts'
import { findAuthenticatorName } from './authenticator-names.ts'
import { type CeremonyAnswer, requireChallenge, startCeremony, verifyOrRefuse } from './ceremony.ts'
import { requirePasskeys, requireRegistrant } from './permission.ts'
import {
  addPasskey,
  listPasskeys,
  lockPasskeyOwner,
  type NewPasskey,
  type PasskeyRow,
} from './statements/passkeys.ts'
import { type TakenChallenge, takeRegistrationChallenge } from './statements/webauthn-challenges.ts'
import { createCreationOptions, verifyCreation } from './webauthn.ts'

/** Reference 3.26: what the browser asks an authenticator for. @throws {ApiError} */
export async function startRegistration(services: Services, person: Person): Promise<Metadata> {
  const { db, config } = services
  requirePasskeys(services)
  requireRegistrant(person)
  const { mostPerUser, relyingParty, challengeExpiresInMs } = config.passkeys
  const present = await db.run<PasskeyRow>(listPasskeys, [person.id])
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
  // Before the challenge is taken: it can still be answered after a second factor.
  requirePasskeys(services)
  requireRegistrant(person)
  const { mostPerUser, relyingParty } = config.passkeys
  const nowMs = services.now()
  const [taken] = await db.run<TakenChallenge>(takeRegistrationChallenge, [challengeId, person.id])
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

/** Two statements: the second counts what others have added while the first waited for them. */
async function add(queries: Queries, passkey: NewPasskey): Promise<PasskeyRow> {
  const [owner] = await queries.run(lockPasskeyOwner, [passkey.user_id])
  if (owner === undefined) throw userNotFound()
  const [added] = await queries.run<PasskeyRow>(addPasskey, [passkey])
  if (added === undefined) throw tooMany()
  return added
}

function tooMany(): ApiError {
  return new ApiError('too_many_passkeys', 'Maximum number of passkeys reached')
}

function toHex(text: string): string {
  return Buffer.from(text, 'base64url').toString('hex')
}
