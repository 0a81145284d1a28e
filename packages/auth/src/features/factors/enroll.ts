import { randomUUID } from 'node:crypto'
import type { MfaConfig } from '../../config/mfa.ts'
import { isTaken } from '../../db/violations.ts'
import { ApiError, invalid } from '../../errors.ts'
import type { Services } from '../../services.ts'
import { toAuditEntry } from '../audit/audit.ts'
import type { Client } from '../sessions/sessions.ts'
import type { Metadata } from '../users/metadata.ts'
import type { FactorRow } from '../users/statements/user-row.ts'
import { isVerified } from './assurance-level.ts'
import { findFactorKind, recoveryCodeType } from './index.ts'
import { type Member, nameConflict, requireLevelToAdd } from './member.ts'
import { enrollFactor, type NewFactor } from './statements/factors.ts'

export interface EnrollRequest {
  readonly member: Member
  readonly type: string
  readonly friendlyName: string
  readonly issuer: string | undefined
  readonly phone: string | undefined
  readonly client: Client
}

/** Reference 3.20: a factor, still to be verified, with what only its owner ever sees. @throws {ApiError} */
export async function enroll(services: Services, request: EnrollRequest): Promise<Metadata> {
  const { member, type, friendlyName, client } = request
  const { db, config } = services
  const kind = findFactorKind(type)
  if (kind === undefined) throw invalid('factor_type needs to be totp, phone, or webauthn')
  if (!kind.findSwitch(config.mfa).enroll) {
    throw new ApiError(kind.codes.enroll, `MFA enroll is disabled for ${kind.label}`)
  }
  const now = new Date(services.now())
  const expiredBefore = new Date(now.getTime() - config.mfa.factorExpiresInMs)
  checkRoom(services, member, friendlyName, expiredBefore)
  requireLevelToAdd(member)
  const id = randomUUID()
  const { issuer, phone } = request
  const draft = kind.enroll(services, { factorId: id, user: member, issuer, phone })
  const factor: NewFactor = {
    id,
    user_id: member.id,
    factor_type: type,
    friendly_name: friendlyName,
    secret: draft.secret?.toString('hex') ?? null,
    phone: draft.phone ?? null,
    expired_before: expiredBefore,
    now,
    ip: client.ip,
    audit: toAuditEntry('factor_in_progress', member, { factor_id: id, factor_type: type }),
  }
  try {
    await db.run(enrollFactor, [factor])
  } catch (error) {
    if (isTaken(error, 'mfa_factors_name')) throw nameConflict(friendlyName)
    // Somebody else enrolls the same number just now.
    if (isTaken(error, 'mfa_factors_phone')) throw new ApiError('conflict', 'Try again')
    throw error
  }
  return {
    id,
    type,
    ...(friendlyName !== '' && { friendly_name: friendlyName }),
    ...draft.shown,
  }
}

/** What nobody verified in time makes room. @throws {ApiError} */
function checkRoom(
  { config: { mfa } }: Services,
  { factors }: Member,
  friendlyName: string,
  expiredBefore: Date,
): void {
  const present = factors.filter((factor) => isVerified(factor) || !isOlder(factor, expiredBefore))
  if (friendlyName !== '' && present.some((factor) => factor.friendly_name === friendlyName)) {
    throw nameConflict(friendlyName)
  }
  const counted = present.filter(isCounted)
  if (counted.length >= mfa.mostEnrolled) throw tooMany()
  requireRoomForVerified(mfa, factors)
}

/** @throws {ApiError} */
export function requireRoomForVerified(
  { mostVerified }: Pick<MfaConfig, 'mostVerified'>,
  factors: readonly FactorRow[],
): void {
  const verified = factors.filter((factor) => isVerified(factor) && isCounted(factor))
  if (verified.length >= mostVerified) throw tooMany()
}

function isCounted({ factor_type: type }: FactorRow): boolean {
  return type !== recoveryCodeType
}

function tooMany(): ApiError {
  return new ApiError(
    'too_many_enrolled_mfa_factors',
    'Maximum number of verified factors reached, unenroll to continue',
  )
}

function isOlder({ last_challenged_at: challengedAt, created_at }: FactorRow, time: Date): boolean {
  return Date.parse(challengedAt ?? created_at) < time.getTime()
}
