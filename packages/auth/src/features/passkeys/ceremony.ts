import { randomUUID } from 'node:crypto'
import { ApiError, invalid } from '../../errors.ts'
import type { Services } from '../../services.ts'
import type { Metadata } from '../../stored-json.ts'
import { isBelowLevel, type Person } from '../sessions/assurance-level.ts'
import { addWebAuthnChallenge, type Ceremony, type TakenChallenge } from './statements.ts'
import { CredentialError, type WebAuthnOptions } from './webauthn.ts'

/** A browser's answer to a challenge. */
export interface CeremonyAnswer {
  readonly challengeId: string
  /** Unvalidated. */
  readonly credential: unknown
}

/** Stores the challenge of the options. @param userId null when the user is not known yet. */
export async function startCeremony(
  { db, config, now }: Services,
  ceremony: Ceremony,
  userId: string | null,
  { challenge, json }: WebAuthnOptions,
): Promise<Metadata> {
  const id = randomUUID()
  const startedAt = new Date(now())
  const expiresAt = new Date(startedAt.getTime() + config.passkeys.challengeExpiresInMs)
  await db.run(addWebAuthnChallenge, {
    id,
    ceremony,
    userId,
    challenge,
    expiresAt,
    now: startedAt,
  })
  return { challenge_id: id, options: json, expires_at: Math.floor(expiresAt.getTime() / 1_000) }
}

/** @throws {ApiError} */
export function requireChallenge<C extends TakenChallenge>(taken: C | undefined, nowMs: number): C {
  if (taken === undefined) {
    throw new ApiError('webauthn_challenge_not_found', 'Challenge not found or already used')
  }
  if (Date.parse(taken.expires_at) < nowMs) {
    throw new ApiError('webauthn_challenge_expired', 'Challenge has expired')
  }
  return taken
}

/** One error for all causes, so that it does not reveal which passkeys exist. */
export function verificationFailed(cause?: unknown): ApiError {
  return new ApiError('webauthn_verification_failed', 'Credential verification failed', { cause })
}

/** @throws {ApiError} */
export async function verifyOrRefuse<Result>(verify: Promise<Result>): Promise<Result> {
  try {
    return await verify
  } catch (error) {
    throw error instanceof CredentialError ? verificationFailed(error) : error
  }
}

/** @throws {ApiError} */
export function requirePasskeys({ config }: Services): void {
  if (config.passkeys.enabled) return
  throw new ApiError('passkey_disabled', 'Passkeys are disabled')
}

/**
 * A passkey gives access to the account. A user with a second factor must therefore verify it
 * first, so that a stolen password is not enough to add a passkey or to lock the owner out.
 * @throws {ApiError}
 */
export function requireManager(person: Person): void {
  if (!isBelowLevel(person)) return
  throw new ApiError(
    'insufficient_aal',
    'AAL2 session is required to manage passkeys when MFA is enabled',
  )
}

/** @throws {ApiError} */
export function requireRegistrant(person: Person): void {
  if (person.is_anonymous) {
    throw new ApiError('no_authorization', 'Anonymous user not allowed to perform these actions', {
      status: 403,
    })
  }
  if (person.is_sso_user) throw invalid('SSO users cannot register passkeys', { status: 422 })
  requireManager(person)
}
