import { randomUUID } from 'node:crypto'
import { ApiError } from '../../errors.ts'
import {
  secondsUntilDue,
  toCapError,
  toCapParts,
  toCooldownError,
} from '../../messages/requests/message-cooldowns.ts'
import type { FactorKind } from '../../plugins/factors/factor-kind.ts'
import type { Services } from '../../services.ts'
import type { Metadata } from '../../stored-json.ts'
import { toAuditEntry } from '../audit/audit.ts'
import { isVerified } from '../sessions/assurance-level.ts'
import type { Client } from '../sessions/sessions.ts'
import {
  factorNotFound,
  findKindOf,
  findOwnFactor,
  type Member,
  requireLevelToAdd,
} from './member.ts'
import { challengeFactor, findFactorSecrets, type NewChallenge } from './statements/factors.ts'

interface ChallengeRequest {
  readonly member: Member
  readonly factorId: string
  readonly channel: string | undefined
  readonly webauthn: unknown
  readonly client: Client
}

/** Creates a challenge for a factor. @throws {ApiError} */
export async function challenge(services: Services, request: ChallengeRequest): Promise<Metadata> {
  const { member, client, channel, webauthn } = request
  const { db, config } = services
  const factor = findOwnFactor(member, request.factorId)
  const { kind, settings } = findKindOf(services, factor)
  if (!settings.verify) throw verifyDisabled(kind)
  if (!isVerified(factor)) requireLevelToAdd(member)
  const id = randomUUID()
  const input = { challengeId: id, user: member, factor, channel, webauthn }
  const draft = await kind.challenge(services, input, settings)
  const now = new Date(services.now())
  const expiresAt = new Date(now.getTime() + config.mfa.challengeExpiresInMs)
  const row: NewChallenge = {
    id,
    factor_id: factor.id,
    user_id: member.id,
    otp_hash: draft.otpHash?.toString('hex') ?? null,
    web_authn_data: draft.webAuthnData ?? null,
    expires_at: expiresAt,
    gap_seconds: draft.cooldownMs === undefined ? null : draft.cooldownMs / 1_000,
    messages: draft.message ? [draft.message] : [],
    ...toCapParts(config.limits.smsSent),
    now,
    ip: client.ip,
    audit: toAuditEntry('challenge_created', member, {
      factor_id: factor.id,
      factor_status: factor.status,
    }),
  }
  const [written] = await db.run(challengeFactor, row)
  if (written === undefined) throw await findReason(services, row)
  if (draft.message) services.wakeMessages()
  return {
    id,
    type: factor.factor_type,
    expires_at: Math.floor(expiresAt.getTime() / 1_000),
    ...draft.shown,
  }
}

export function verifyDisabled({ codes, label }: FactorKind): ApiError {
  return new ApiError(codes.verify, `MFA verification is disabled for ${label}`)
}

async function findReason(services: Services, row: NewChallenge): Promise<ApiError> {
  const [factor] = await services.db.run(findFactorSecrets, {
    id: row.factor_id,
    userId: row.user_id,
  })
  if (factor === undefined) return factorNotFound()
  const cooldownMs = (row.gap_seconds ?? 0) * 1_000
  const waitSeconds = secondsUntilDue(factor.last_challenged_at, cooldownMs, row.now.getTime())
  if (waitSeconds > 0) return toCooldownError('sms', waitSeconds)
  return toCapError(services, 'sms', row.now)
}
