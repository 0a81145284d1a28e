import { ApiError, invalid } from '../../errors.ts'
import type { FactorRow, UserRow } from '../users/statements/user-row.ts'
import { isBelowLevel, type Person } from './assurance-level.ts'
import type { FactorKind } from './factor-kind.ts'
import { findFactorKind, recoveryCodeType } from './index.ts'

/** Somebody who may have factors, in a session that can be raised. */
export interface Member extends Person {
  readonly session_id: string
}

/** @throws {ApiError} */
export function requireMember<P extends Person>(person: P): P & Member {
  if (person.is_anonymous) {
    throw new ApiError('no_authorization', 'Anonymous user not allowed to perform these actions', {
      status: 403,
    })
  }
  const { session_id: sessionId } = person
  if (sessionId === null) {
    throw new ApiError('session_not_found', 'Factors need a session, and this token has none')
  }
  return { ...person, session_id: sessionId }
}

/** @throws {ApiError} */
export function findOwnFactor({ factors }: UserRow, factorId: string): FactorRow {
  const factor = factors.find(({ id }) => id === factorId)
  if (factor === undefined) throw factorNotFound()
  return factor
}

export function factorNotFound(): ApiError {
  return new ApiError('mfa_factor_not_found', 'Factor not found')
}

/** @throws {ApiError} */
export function findKindOf({ factor_type: type }: FactorRow): FactorKind {
  const kind = findFactorKind(type)
  if (kind !== undefined) return kind
  if (type === recoveryCodeType) {
    throw invalid('Recovery codes have no challenge: use POST /factors/recovery-codes/verify')
  }
  throw factorNotFound()
}

/**
 * Who has a verified factor shows it first. Otherwise somebody who got hold of the password could have
 * left a factor of their own behind, unverified, and finish it later. @throws {ApiError}
 */
export function requireLevelToAdd(member: Member): void {
  if (!isBelowLevel(member)) return
  throw new ApiError('insufficient_aal', 'AAL2 required to enroll a new factor')
}

export function nameConflict(name: string): ApiError {
  return new ApiError(
    'mfa_factor_name_conflict',
    `A factor with the friendly name "${name}" for this user already exists`,
  )
}
