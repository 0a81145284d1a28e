import { randomUUID } from 'node:crypto'
import { isTaken } from '../../db/database-errors.ts'
import { ApiError, invalid } from '../../errors.ts'
import { planNotices } from '../../messages/requests/notifications.ts'
import type { WithNotices } from '../../messages/statements/request-parts.ts'
import { factorKindNames } from '../../plugins/factors/index.ts'
import type { MfaConfig } from '../../plugins/factors/settings.ts'
import type { Services } from '../../services.ts'
import type { Metadata } from '../../stored-json.ts'
import { type AuditAction, type AuditEntry, toAuditEntry, toSubjectEntry } from '../audit/audit.ts'
import { isVerified } from '../sessions/assurance-level.ts'
import type { Client } from '../sessions/sessions.ts'
import type { FactorRow } from '../users/statements/user-row.ts'
import { getUser } from '../users/user-record.ts'
import {
  factorNotFound,
  findConfiguredKind,
  findOwnFactor,
  type Member,
  methodsByType,
  nameConflict,
  recoveryCodeType,
  requireLevelToAdd,
} from './member.ts'
import {
  enrollFactor,
  type FactorRemoval,
  type FactorUpdate,
  type NewFactor,
  removeFactor,
  updateFactor,
} from './statements/factors.ts'

interface EnrollRequest {
  readonly member: Member
  readonly type: string
  readonly friendlyName: string
  readonly issuer: string | undefined
  readonly phone: string | undefined
  readonly client: Client
}

/** For example `totp, phone, or webauthn`. */
const kindList = new Intl.ListFormat('en', { type: 'disjunction' }).format(factorKindNames)

/**
 * Enrolls an unverified factor and returns it with its secrets, which are shown only once.
 * @throws {ApiError}
 */
export async function enroll(services: Services, request: EnrollRequest): Promise<Metadata> {
  const { member, type, friendlyName, client } = request
  const { db, config } = services
  const found = findConfiguredKind(services, type)
  if (found === undefined) throw invalid(`factor_type needs to be ${kindList}`)
  const { kind, settings } = found
  if (!settings.enroll) {
    throw new ApiError(kind.codes.enroll, `MFA enroll is disabled for ${kind.label}`)
  }
  const now = new Date(services.now())
  const expiredBefore = new Date(now.getTime() - config.mfa.factorExpiresInMs)
  checkRoom(services, member, friendlyName, expiredBefore)
  requireLevelToAdd(member)
  const id = randomUUID()
  const { issuer, phone } = request
  const draft = await kind.enroll(services, { factorId: id, user: member, issuer, phone })
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
    await db.run(enrollFactor, factor)
  } catch (error) {
    if (isTaken(error, 'mfa_factors_name')) throw nameConflict(friendlyName)
    // A concurrent request enrolls the same phone number.
    if (isTaken(error, 'mfa_factors_phone')) {
      throw new ApiError('conflict', 'The account is being changed, please try again')
    }
    throw error
  }
  return {
    id,
    type,
    ...(friendlyName !== '' && { friendly_name: friendlyName }),
    ...draft.shown,
  }
}

/** Expired unverified factors do not count. @throws {ApiError} */
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

/** Removing a verified factor requires aal2. @throws {ApiError} */
export async function unenroll(
  services: Services,
  { member, factorId, ip }: { member: Member; factorId: string; ip: string },
): Promise<FactorRow> {
  const factor = findOwnFactor(member, factorId)
  if (isVerified(factor) && member.aal !== 'aal2') {
    throw new ApiError('insufficient_aal', 'AAL2 required to unenroll verified factor', {
      status: 422,
    })
  }
  const audit = toAuditEntry('factor_unenrolled', member, {
    factor_id: factor.id,
    factor_type: factor.factor_type,
    factor_status: factor.status,
    ...(member.session_id && { session_id: member.session_id }),
  })
  const facts = { FactorType: factor.factor_type }
  const notices = isVerified(factor)
    ? planNotices(services, 'mfa_factor_unenrolled', member, facts)
    : []
  const removed = await remove(services, { userId: member.id, factorId, ip, audit, notices })
  if (notices.length > 0) services.wakeMessages()
  return removed
}

interface Removal extends WithNotices {
  readonly userId: string
  readonly factorId: string
  readonly ip: string
  readonly audit: AuditEntry
}

/** Removes a factor. Sessions that were verified with it drop to aal1. @throws {ApiError} */
async function remove(services: Services, removal: Removal): Promise<FactorRow> {
  const { userId, factorId, ip, audit, notices = [] } = removal
  const row: FactorRemoval = {
    factor_id: factorId,
    user_id: userId,
    methods: methodsByType,
    now: new Date(services.now()),
    ip,
    audit,
    notices,
  }
  const [removed] = await services.db.run(removeFactor, row)
  if (removed === undefined) throw factorNotFound()
  return removed
}

interface AdminFactorRequest {
  readonly userId: string
  readonly factorId: string
  readonly adminRole: string
  readonly ip: string
}

/** @throws {ApiError} */
export async function deleteFactor(
  services: Services,
  request: AdminFactorRequest,
): Promise<FactorRow> {
  const { userId, factorId, ip } = request
  const { audit } = await findFactor(services, request, 'factor_deleted')
  return remove(services, { userId, factorId, ip, audit })
}

interface FactorChange extends AdminFactorRequest {
  /** Undefined fields stay unchanged. */
  readonly friendlyName: string | undefined
  readonly phone: string | undefined
}

/** @throws {ApiError} */
export async function changeFactor(services: Services, change: FactorChange): Promise<FactorRow> {
  const { userId, factorId, ip, friendlyName, phone } = change
  const { factor, audit } = await findFactor(services, change, 'factor_updated')
  if (phone !== undefined && factor.phone === null) {
    throw invalid('Only a phone factor has a phone number')
  }
  const row: FactorUpdate = {
    factor_id: factorId,
    user_id: userId,
    friendly_name: friendlyName ?? null,
    phone: phone ?? null,
    now: new Date(services.now()),
    ip,
    audit,
  }
  try {
    const [updated] = await services.db.run(updateFactor, row)
    if (updated === undefined) throw factorNotFound()
    return updated
  } catch (error) {
    if (isTaken(error, 'mfa_factors_name')) throw nameConflict(friendlyName ?? '')
    if (!isTaken(error, 'mfa_factors_phone')) throw error
    throw new ApiError('phone_exists', 'Another factor of this user has that phone number')
  }
}

async function findFactor(
  services: Services,
  { userId, factorId, adminRole }: AdminFactorRequest,
  action: AuditAction,
): Promise<{ readonly factor: FactorRow; readonly audit: AuditEntry }> {
  const user = await getUser(services, userId)
  const factor = findOwnFactor(user, factorId)
  const traits = { factor_id: factorId, factor_type: factor.factor_type }
  return { factor, audit: toSubjectEntry(action, adminRole, user, traits) }
}
