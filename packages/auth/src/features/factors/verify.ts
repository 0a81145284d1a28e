import { ApiError } from '../../errors.ts'
import { toNetwork } from '../../limits/buckets.ts'
import { planNotices } from '../../messages/requests/notifications.ts'
import type { FactorAnswer } from '../../plugins/factors/factor-kind.ts'
import type { Services } from '../../services.ts'
import { toAuditEntry } from '../audit/audit.ts'
import { notingFailure } from '../audit/sign-in-log.ts'
import { judgeFactor } from '../sessions/hook-verdicts.ts'
import type { Client, TokenResponse } from '../sessions/sessions.ts'
import { isVerified } from './assurance-level.ts'
import { verifyDisabled } from './challenge.ts'
import { requireRoomForVerified } from './enrollment.ts'
import { findKindOf, findOwnFactor, type Member, requireLevelToAdd } from './member.ts'
import {
  type Acceptance,
  acceptFactor,
  type ChallengeTry,
  type TriedChallenge,
  tryChallenge,
} from './statements/verification.ts'

interface VerifyRequest {
  readonly member: Member
  readonly factorId: string
  /** Undefined: none that there could be. */
  readonly challengeId: string | undefined
  readonly answer: FactorAnswer
  readonly client: Client
}

/** Wrong answers after which a challenge is of no use. */
const mostAttempts = 5
/**
 * Wrong answers in a row after which a session may not answer for a while. Others are not concerned:
 * whoever has only the password must not lock the owner out.
 */
export const sessionLimits = { most_in_session: 10, lock_seconds: 600 }
/**
 * Wrong answers for one factor in all sessions together: 50 in 24 hours, 25 of them at once. Six digits, of
 * which three codes are right at a time, are found with a chance of 0.015 % a day. Networks that a right
 * answer has come from before have a count of their own, which strangers cannot use up.
 */
const factorLimits = { most_failures: 25, refill_seconds: 86_400 / 25 }

/** Reference 3.20: raises the session to aal2. @throws {ApiError} */
export async function verifyFactor(
  services: Services,
  request: VerifyRequest,
): Promise<TokenResponse> {
  const { member, challengeId, answer, client } = request
  const { db, config, sessions } = services
  const factor = findOwnFactor(member, request.factorId)
  const { kind, settings } = findKindOf(services, factor)
  if (!settings.verify) throw verifyDisabled(kind)
  if (!isVerified(factor)) {
    requireLevelToAdd(member)
    requireRoomForVerified(config.mfa, member.factors)
  }
  if (challengeId === undefined) throw unknownChallenge()
  kind.checkForm(answer)
  const now = new Date(services.now())
  const network = toNetwork(client.ip)
  const traits = {
    factor_id: factor.id,
    factor_type: factor.factor_type,
    challenge_id: challengeId,
  }
  const attempt: ChallengeTry = {
    challenge_id: challengeId,
    factor_id: factor.id,
    user_id: member.id,
    session_id: member.session_id,
    most_attempts: mostAttempts,
    ...sessionLimits,
    ...factorLimits,
    most_failures: kind.isGuessable ? factorLimits.most_failures : null,
    network,
    ip: client.ip,
    now,
    audit: toAuditEntry('verification_attempted', member, traits),
  }
  const [challenge] = await db.run(tryChallenge, attempt)
  if (challenge === undefined) throw unknownChallenge()
  if (!challenge.is_counted) throw toFlaw(challenge, attempt)
  const proof = await kind.check(services, { challengeId, user: member, factor, answer, challenge })
  await judgeFactor(services, { user: member, factor, isRight: proof !== undefined, client })
  if (proof === undefined) throw wrongAnswer(kind.wrongAnswer)
  // A factor is enrolled once it was shown.
  const facts = { FactorType: factor.factor_type }
  const notices = isVerified(factor)
    ? []
    : planNotices(services, 'mfa_factor_enrolled', member, facts)
  const acceptance: Acceptance = {
    user_id: member.id,
    session_id: member.session_id,
    factor_id: factor.id,
    challenge_id: challengeId,
    step: proof.step ?? null,
    credential: proof.credential ?? null,
    aaguid: proof.aaguid ?? null,
    network,
    method: kind.method,
    now,
    ip: client.ip,
    user_agent: client.userAgent,
    audit: toAuditEntry('verification_succeeded', member, {
      ...traits,
      session_id: member.session_id,
    }),
    notices,
  }
  const [raised] = await db.run(acceptFactor, acceptance)
  // Another request was faster with the same code, or the session has ended.
  if (raised === undefined) throw wrongAnswer(kind.wrongAnswer)
  if (notices.length > 0) services.wakeMessages()
  return sessions.toTokenResponse(raised, client)
}

export function wrongAnswer(message: string): ApiError {
  return new ApiError('mfa_verification_failed', message)
}

function unknownChallenge(): ApiError {
  return new ApiError(
    'mfa_factor_not_found',
    'MFA factor with the provided challenge ID not found',
    { status: 422 },
  )
}

/** Why the answer was not even looked at. */
function toFlaw(challenge: TriedChallenge, attempt: ChallengeTry): ApiError {
  const { now, ip, challenge_id: id } = attempt
  if (challenge.verified_at !== null || challenge.ip_address !== ip) {
    return new ApiError('mfa_ip_address_mismatch', 'Challenge and verify IP addresses mismatch.')
  }
  const isOver = Date.parse(challenge.expires_at) < now.getTime()
  if (!isOver && challenge.attempts < mostAttempts && challenge.locked_until !== null) {
    const waitSeconds = toWaitSeconds(challenge.locked_until, now)
    return new ApiError(
      'over_request_rate_limit',
      `Too many wrong codes: this factor can be used again after ${waitSeconds} seconds.`,
      { retryAfterSeconds: waitSeconds },
    )
  }
  return new ApiError(
    'mfa_challenge_expired',
    `MFA challenge ${id} has expired, verify against another challenge or create a new challenge.`,
  )
}

export function toWaitSeconds(lockedUntil: string, now: Date): number {
  return Math.max(1, Math.ceil((Date.parse(lockedUntil) - now.getTime()) / 1_000))
}

interface FactorAttempt {
  readonly member: Member
  readonly audience: string
  readonly client: Client
}

/** The second step of a sign-in; a failure is noted with the user, who is known by then. */
export function notingFactorFailure<Result>(
  { signInLog }: Services,
  { member, audience, client }: FactorAttempt,
  verify: () => Promise<Result>,
): Promise<Result> {
  const name = member.email ?? member.phone ?? ''
  return notingFailure(signInLog, { name, audience, userId: member.id, ip: client.ip }, verify)
}
