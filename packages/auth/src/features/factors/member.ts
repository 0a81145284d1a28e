import type { Settings } from '@portcullis/service-kit/settings/env'
import { ApiError, invalid } from '../../errors.ts'
import type { FactorKind, FactorVariables } from '../../plugins/factors/factor-kind.ts'
import { factorKindNames, factorKinds, isFactorKindName } from '../../plugins/factors/index.ts'
import type { Services } from '../../services.ts'
import { isBelowLevel, type Person } from '../sessions/assurance-level.ts'
import type { FactorRow, UserRow } from '../users/statements/user-row.ts'

/** Recovery codes can replace any factor. They come in a set and are never the only factor. */
export const recoveryCodeType = 'recovery_code'
export const recoveryCodeMethod = 'mfa/recovery_code'

/** The `amr` methods by factor type. */
export const methodsByType: Readonly<Record<string, string>> = {
  ...Object.fromEntries(factorKindNames.map((name) => [name, factorKinds[name].method])),
  [recoveryCodeType]: recoveryCodeMethod,
}

/** A user who may have factors, with a session that can be raised to aal2. */
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
    throw new ApiError(
      'session_not_found',
      'This request requires a session, but the token has none',
    )
  }
  return { ...person, session_id: sessionId }
}

/** @throws {ApiError} */
export function findOwnFactor({ factors }: UserRow, factorId: string): FactorRow {
  const factor = factors.find(({ id }) => id === factorId)
  if (factor === undefined) throw factorNotFound()
  return factor
}

interface ConfiguredKind {
  readonly kind: FactorKind
  readonly settings: Settings<FactorVariables>
}

export function findConfiguredKind({ config }: Services, type: string): ConfiguredKind | undefined {
  if (!isFactorKindName(type)) return undefined
  return { kind: factorKinds[type], settings: config.mfa.kinds[type] }
}

export function factorNotFound(): ApiError {
  return new ApiError('mfa_factor_not_found', 'Factor not found')
}

/** @throws {ApiError} */
export function findKindOf(services: Services, { factor_type: type }: FactorRow): ConfiguredKind {
  const found = findConfiguredKind(services, type)
  if (found !== undefined) return found
  if (type === recoveryCodeType) {
    throw invalid('Recovery codes have no challenge: use POST /factors/recovery-codes/verify')
  }
  throw factorNotFound()
}

/**
 * A user with a verified factor must verify it before adding another. Otherwise an attacker with
 * the password could enroll an unverified factor and complete it later. @throws {ApiError}
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
