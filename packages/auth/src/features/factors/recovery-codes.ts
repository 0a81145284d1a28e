import { randomInt, randomUUID } from 'node:crypto'
import { isTaken } from '../../db/database-errors.ts'
import { ApiError } from '../../errors.ts'
import { planNotices } from '../../messages/requests/notifications.ts'
import type { Services } from '../../services.ts'
import type { Metadata } from '../../stored-json.ts'
import { toAuditEntry } from '../audit/audit.ts'
import { isVerified } from '../sessions/assurance-level.ts'
import { judgeFactor } from '../sessions/hook-verdicts.ts'
import type { Client, TokenResponse } from '../sessions/sessions.ts'
import { revokeSessions, type SessionRow } from '../sessions/statements/sessions.ts'
import type { FactorRow, UserRow } from '../users/statements/user-row.ts'
import {
  factorNotFound,
  type Member,
  nameConflict,
  recoveryCodeMethod,
  recoveryCodeType,
} from './member.ts'
import {
  type CodeTry,
  type CodeVerdict,
  countRecoveryCodes,
  createRecoveryCodes,
  replaceRecoveryCodes,
  useRecoveryCode,
} from './statements/recovery-codes.ts'
import { sessionLimits, toWaitSeconds, wrongAnswer } from './verify.ts'

/** Without characters that look alike. 16 characters have 79 bits of entropy. */
const alphabet = '23456789abcdefghjkmnpqrstuvwxyz'
const codeLength = 16
const codesInSet = 10
const defaultName = 'Recovery codes'

interface MemberRequest {
  readonly member: Member
  readonly client: Client
}

/** Returns the number of codes and how many are unused. @throws {ApiError} */
export async function findRecoveryCodes({ db }: Services, user: UserRow): Promise<Metadata> {
  const { id } = requireRecoverySet(user)
  const [count] = await db.run(countRecoveryCodes, { factorId: id })
  return {
    id,
    type: recoveryCodeType,
    total: count?.total ?? 0,
    remaining: count?.remaining ?? 0,
  }
}

/** Creates the first set. The codes are returned only once. @throws {ApiError} */
export async function generateRecoveryCodes(
  services: Services,
  { member, client, friendlyName }: MemberRequest & { readonly friendlyName: string },
): Promise<Metadata> {
  checkAdding(services, member, 'generate')
  if (!member.factors.some((factor) => isVerified(factor) && !isRecoverySet(factor)))
    throw soleFactor()
  if (member.factors.some(isRecoverySet)) throw setExists()
  const name = friendlyName === '' ? defaultName : friendlyName
  const set = draftSet(services, randomUUID(), member, client)
  try {
    const [created] = await services.db.run(createRecoveryCodes, {
      ...set.row,
      friendly_name: name,
    })
    if (created === undefined) throw soleFactor()
  } catch (error) {
    if (isTaken(error, 'mfa_factors_name')) throw nameConflict(name)
    if (isTaken(error, 'mfa_factors_recovery')) throw setExists()
    throw error
  }
  if (set.row.notices.length > 0) services.wakeMessages()
  return toResponse(set.row.factor_id, name, set.codes)
}

/** Replaces the set. Codes of the previous set stop working. @throws {ApiError} */
export async function regenerateRecoveryCodes(
  services: Services,
  { member, client }: MemberRequest,
): Promise<Metadata> {
  checkAdding(services, member, 'regenerate')
  const { id, friendly_name: name } = requireRecoverySet(member)
  const set = draftSet(services, id, member, client)
  const [replaced] = await services.db.run(replaceRecoveryCodes, set.row)
  if (replaced === undefined) throw factorNotFound()
  if (set.row.notices.length > 0) services.wakeMessages()
  return toResponse(id, name, set.codes)
}

/** @throws {ApiError} */
export async function verifyRecoveryCode(
  services: Services,
  { member, client, code }: MemberRequest & { readonly code: string },
): Promise<TokenResponse> {
  const { db, config, sessions } = services
  if (!config.mfa.recoveryCodes.verify) {
    throw new ApiError(
      'mfa_recovery_codes_verify_not_enabled',
      'MFA verification is disabled for recovery codes',
    )
  }
  const factor = member.factors.find(isRecoverySet)
  const canonical = code.toLowerCase().replaceAll(/[\s-]/g, '')
  if (factor === undefined || canonical === '') throw wrongCode()
  const now = new Date(services.now())
  const traits = { factor_id: factor.id, factor_type: recoveryCodeType }
  const attempt: CodeTry = {
    factor_id: factor.id,
    code_hashes: services.oneTimeTokens.findHashes(canonical, factor.id),
    ...sessionLimits,
    attempt_audit: toAuditEntry('verification_attempted', member, traits),
    user_id: member.id,
    session_id: member.session_id,
    method: recoveryCodeMethod,
    now,
    ip: client.ip,
    user_agent: client.userAgent,
    audit: toAuditEntry('verification_succeeded', member, {
      ...traits,
      session_id: member.session_id,
    }),
  }
  const [verdict] = await db.run(useRecoveryCode, attempt)
  const isRight = verdict !== undefined && isRaised(verdict)
  if (!verdict?.locked_until) await judge(services, { user: member, factor, isRight, client })
  if (isRight) return sessions.toTokenResponse(verdict, client)
  if (verdict?.locked_until) {
    const waitSeconds = toWaitSeconds(verdict.locked_until, now)
    throw new ApiError(
      'mfa_recovery_codes_locked',
      `Too many wrong recovery codes: try again after ${waitSeconds} seconds.`,
      { retryAfterSeconds: waitSeconds },
    )
  }
  throw wrongCode()
}

/**
 * The code has already raised the session, so the session is revoked if the hook fails or rejects.
 * @throws {ApiError}
 */
async function judge(
  services: Services,
  attempt: Parameters<typeof judgeFactor>[1] & { readonly user: Member },
): Promise<void> {
  try {
    await judgeFactor(services, attempt)
  } catch (error) {
    const { db, now } = services
    const sessionIds = [attempt.user.session_id]
    if (attempt.isRight) await db.run(revokeSessions, { sessionIds, now: new Date(now()) })
    throw error
  }
}

/** @throws {ApiError} */
export function requireRecoverySet({ factors }: UserRow): FactorRow {
  const factor = factors.find(isRecoverySet)
  if (factor === undefined) throw factorNotFound()
  return factor
}

/** @throws {ApiError} */
export function requireSecondLevel({ aal }: Member, verb: string): void {
  if (aal === 'aal2') return
  throw new ApiError('insufficient_aal', `AAL2 required to ${verb} recovery codes`)
}

function checkAdding({ config }: Services, member: Member, verb: string): void {
  if (!config.mfa.recoveryCodes.enroll) {
    throw new ApiError(
      'mfa_recovery_codes_enroll_not_enabled',
      'MFA enroll is disabled for recovery codes',
    )
  }
  requireSecondLevel(member, verb)
}

function isRecoverySet({ factor_type: type }: FactorRow): boolean {
  return type === recoveryCodeType
}

function isRaised(verdict: CodeVerdict): verdict is CodeVerdict & SessionRow {
  return verdict.session_id !== null
}

function draftSet(services: Services, factorId: string, member: Member, client: Client) {
  const codes = Array.from({ length: codesInSet }, createCode)
  return {
    codes,
    row: {
      factor_id: factorId,
      user_id: member.id,
      hashes: codes.map((code) => hashCode(services, code, factorId)),
      now: new Date(services.now()),
      ip: client.ip,
      audit: toAuditEntry('recovery_codes_generated', member, { factor_id: factorId }),
      // A new set is as sensitive as a new factor.
      notices: planNotices(services, 'mfa_factor_enrolled', member, {
        FactorType: recoveryCodeType,
      }),
    },
  }
}

function createCode(): string {
  const pick = () => alphabet.charAt(randomInt(alphabet.length))
  return Array.from({ length: codeLength }, pick).join('')
}

function hashCode({ oneTimeTokens }: Services, code: string, factorId: string): string {
  return oneTimeTokens.hashDigits(code, factorId).toString('hex')
}

function toResponse(id: string, name: string, codes: readonly string[]): Metadata {
  return {
    id,
    type: recoveryCodeType,
    ...(name !== '' && { friendly_name: name }),
    total: codes.length,
    codes,
  }
}

function wrongCode(): ApiError {
  return wrongAnswer('Invalid recovery code entered')
}

function setExists(): ApiError {
  return new ApiError(
    'mfa_verified_factor_exists',
    'Recovery codes already exist, regenerate them to get a new set',
  )
}

function soleFactor(): ApiError {
  return new ApiError(
    'mfa_recovery_codes_sole_factor',
    'Recovery codes need another verified factor: enroll and verify one first',
  )
}
