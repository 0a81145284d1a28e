import { ApiError } from '../../../errors.ts'
import type { Services } from '../../../services.ts'
import { toAuditEntry } from '../../audit/audit.ts'
import { isBelowLevel, isVerified } from '../../factors/assurance-level.ts'
import { challenge } from '../../factors/challenge.ts'
import { requireMember } from '../../factors/member.ts'
import { notingFactorFailure, verifyFactor } from '../../factors/verify.ts'
import { logOut } from '../../sessions/session-list.ts'
import type { Client } from '../../sessions/sessions.ts'
import type { CallerRow } from '../../sessions/statements/sessions.ts'
import type { FactorRow } from '../../users/statements/user-row.ts'
import { getPending, isSignInTooOld, openAuthorization } from '../authorizations.ts'
import type { ClaimedRow, PendingRow } from '../statements/authorizations.ts'

/** What the built-in page shows next. */
export type NextStep =
  | { readonly step: 'sign-in'; readonly request: PendingRow }
  | { readonly step: 'factor'; readonly isPossible: boolean }
  | { readonly step: 'consent'; readonly request: ClaimedRow; readonly person: CallerRow }
  | { readonly step: 'redirect'; readonly location: string }

/** @throws {ApiError} if the request is unknown, over, or that of another user. */
export async function findNextStep(
  services: Services,
  id: string,
  person: CallerRow | undefined,
  ip: string,
): Promise<NextStep> {
  const request = await getPending(services, id)
  if (person === undefined || isSignInTooOld(request, person, services.now())) {
    return { step: 'sign-in', request }
  }
  if (isBelowLevel(person)) {
    return { step: 'factor', isPossible: findTotpFactor(person) !== undefined }
  }
  const opened = await openAuthorization(services, id, { person, ip })
  return opened.step === 'ask' ? { step: 'consent', request: opened.request, person } : opened
}

/** Raises the session of the page with a code of the user's authenticator app. @throws {ApiError} */
export async function proveFactor(
  services: Services,
  person: CallerRow,
  code: string,
  client: Client,
): Promise<void> {
  const member = requireMember(person)
  const factor = findTotpFactor(person)
  if (factor === undefined) throw new ApiError('mfa_factor_not_found', 'Factor not found')
  const factorId = factor.id
  const asked = { member, factorId, channel: undefined, webauthn: undefined, client }
  const { id: challengeId } = await challenge(services, asked)
  const attempt = { member, audience: person.aud, client }
  const answer = { code, webauthn: undefined }
  await notingFactorFailure(services, attempt, () =>
    verifyFactor(services, { member, factorId, challengeId: `${challengeId}`, answer, client }),
  )
}

/** The page runs no scripts, so it can check codes and no security keys. */
function findTotpFactor({ factors }: CallerRow): FactorRow | undefined {
  return factors.find((factor) => isVerified(factor) && factor.factor_type === 'totp')
}

/** Ends the session of the page. */
export async function leave(services: Services, person: CallerRow, ip: string): Promise<void> {
  await logOut(services, {
    userId: person.id,
    sessionId: person.session_id,
    scope: 'local',
    entry: toAuditEntry('logout', person),
    ip,
  })
}
