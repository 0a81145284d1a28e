import { ApiError } from '../../errors.ts'
import { toNetwork } from '../../limits/buckets.ts'
import { planNotices } from '../../messages/requests/notifications.ts'
import type { FactorAnswer } from '../../plugins/factors/factor-kind.ts'
import type { Services } from '../../services.ts'
import { toAuditEntry } from '../audit/audit.ts'
import { notingFailure } from '../audit/sign-in-log.ts'
import { isVerified } from '../sessions/assurance-level.ts'
import { judgeFactor } from '../sessions/hook-verdicts.ts'
import type { Client, TokenResponse } from '../sessions/sessions.ts'
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
  /** Undefined when the ID is malformed. */
  readonly challengeId: string | undefined
  readonly answer: FactorAnswer
  readonly client: Client
}

/** Failures after which a challenge can no longer be answered. */
const mostAttempts = 5
/**
 * Consecutive failures after which a session is locked for a while. Other sessions are not
 * affected, so that an attacker with the password cannot lock the owner out.
 */
export const sessionLimits = { most_in_session: 10, lock_seconds: 600 }
/**
 * Failures for one factor across all sessions: 50 in 24 hours, of which 25 at once. With six digits
 * and three codes valid at a time, the chance of a correct guess is 0.015 % per day. Networks from
 * which a correct answer has come before are counted separately, so that an attacker cannot use up
 * the owner's attempts.
 */
const factorLimits = { most_failures: 25, refill_seconds: 86_400 / 25 }

/** Verifies a factor and raises the session to aal2. @throws {ApiError} */
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
  if (!challenge.is_counted) throw toRefusal(challenge, attempt)
  const proof = await kind.check(services, { challengeId, user: member, factor, answer, challenge })
  await judgeFactor(services, { user: member, factor, isRight: proof !== undefined, client })
  if (proof === undefined) throw wrongAnswer(kind.wrongAnswer)
  // A factor counts as enrolled when it is verified for the first time.
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
  // A concurrent request used the same code, or the session has ended.
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

/** Why the answer was not checked. */
function toRefusal(challenge: TriedChallenge, attempt: ChallengeTry): ApiError {
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

/** Verifies the second step of a sign-in and logs a failure with the user, who is already known. */
export function notingFactorFailure<Result>(
  { signInLog }: Services,
  { member, audience, client }: FactorAttempt,
  verify: () => Promise<Result>,
): Promise<Result> {
  const name = member.email ?? member.phone ?? ''
  return notingFailure(signInLog, { name, audience, userId: member.id, ip: client.ip }, verify)
}
