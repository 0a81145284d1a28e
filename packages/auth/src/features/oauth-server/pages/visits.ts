import { ApiError } from '../../../errors.ts'
import type { Services } from '../../../services.ts'
import { toAuditEntry } from '../../audit/audit.ts'
import { challenge } from '../../factors/challenge.ts'
import { recoveryCodeType, requireMember } from '../../factors/member.ts'
import { verifyRecoveryCode } from '../../factors/recovery-codes.ts'
import { notingFactorFailure, verifyFactor } from '../../factors/verify.ts'
import { isBelowLevel, isVerified } from '../../sessions/assurance-level.ts'
import { uuidPattern } from '../../sessions/bearer.ts'
import { logOut } from '../../sessions/session-list.ts'
import type { Client } from '../../sessions/sessions.ts'
import type { CallerRow } from '../../sessions/statements/sessions.ts'
import { isTrusted } from '../authorization-request.ts'
import { getPending, isSignInTooOld, openAuthorization, refuse } from '../authorizations.ts'
import type { ClaimedRow, PendingRow } from '../statements/authorizations.ts'
import { findVisitor } from './browser-session.ts'
import type { OfferedFactor } from './sign-in-pages.ts'

/** What the built-in page shows next. */
export type NextStep =
  | { readonly step: 'sign-in'; readonly request: PendingRow }
  | { readonly step: 'factor'; readonly person: CallerRow }
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
    return { step: 'factor', person }
  }
  const opened = await openAuthorization(services, id, { person, ip })
  return opened.step === 'ask' ? { step: 'consent', request: opened.request, person } : opened
}

/** The answer of a user to a second factor: a code, or that of a security key. */
export interface GivenAnswer {
  readonly factorId: string
  /** Empty for an authenticator app and recovery codes, which need no challenge before. */
  readonly challengeId: string
  readonly code: string
  /** Undefined unless the factor is a security key. */
  readonly credential: unknown
}

/** Raises the session of the page with a second factor. @throws {ApiError} */
export async function proveFactor(
  services: Services,
  person: CallerRow,
  given: GivenAnswer,
  client: Client,
): Promise<void> {
  const member = requireMember(person)
  const { factorId, code, credential } = given
  const factor = listOfferedFactors(services, person).find(({ id }) => id === factorId)
  if (factor === undefined) throw new ApiError('mfa_factor_not_found', 'Factor not found')
  const attempt = { member, audience: person.aud, client }
  if (factor.type === 'recovery_code') {
    await notingFactorFailure(services, attempt, () =>
      verifyRecoveryCode(services, { member, client, code }),
    )
    return
  }
  const started =
    factor.type === 'totp' ? await startFactor(services, person, factorId, client) : undefined
  const challengeId = started === undefined ? given.challengeId : `${started['id']}`
  const webauthn =
    credential === undefined ? undefined : { type: 'request', credential_response: credential }
  await notingFactorFailure(services, attempt, () =>
    verifyFactor(services, {
      member,
      factorId,
      challengeId: uuidPattern.test(challengeId) ? challengeId.toLowerCase() : undefined,
      answer: { code, webauthn },
      client,
    }),
  )
}

/** Sends the code of a phone, or creates the options for a security key. @throws {ApiError} */
export async function startFactor(
  services: Services,
  person: CallerRow,
  factorId: string,
  client: Client,
) {
  const member = requireMember(person)
  const asked = { member, factorId, channel: undefined, webauthn: undefined, client }
  return await challenge(services, asked)
}

/** The verified factors of a user that the page can check. */
export function listOfferedFactors(
  { config }: Services,
  { factors }: CallerRow,
): readonly OfferedFactor[] {
  const { kinds, recoveryCodes } = config.mfa
  return factors.filter(isVerified).flatMap((factor): readonly OfferedFactor[] => {
    const { id, factor_type: type, friendly_name: name, phone } = factor
    if (type === 'totp') return kinds.totp.verify ? [{ id, type, hint: name ?? '' }] : []
    if (type === 'phone') {
      return kinds.phone.verify ? [{ id, type, hint: (phone ?? '').slice(-3) }] : []
    }
    if (type === 'webauthn') {
      return kinds.webauthn.verify && canUseKeys(config) ? [{ id, type, hint: '' }] : []
    }
    if (type === recoveryCodeType) return recoveryCodes.verify ? [{ id, type, hint: '' }] : []
    return []
  })
}

/** Browsers tell the authenticator the origin of this page, which must be one of those that are configured. */
export function canUseKeys({ api, passkeys }: Services['config']): boolean {
  return passkeys.relyingParty.origins.includes(new URL(api.externalUrl).origin)
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

interface Visit {
  readonly cookie: string | undefined
  readonly ip: string
}

/**
 * Handles `prompt=none`: answers at once, without showing a page. Only the built-in page has a cookie that
 * says who has signed in; with the operator's page, the client always learns that a page is needed.
 * @returns where the browser continues, and whether it can be redirected there.
 */
export async function openSilently(
  services: Services,
  id: string,
  visit: Visit,
): Promise<{ readonly location: string; readonly isTrusted: boolean }> {
  const hasOwnPage = services.config.oauthServer.authorizationPath !== ''
  const person = hasOwnPage ? undefined : await findVisitor(services, visit.cookie)
  const isSignedIn = person !== undefined
  if (isSignedIn) {
    const decider = { person, ip: visit.ip }
    const opened = await openAuthorization(services, id, decider).catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 'reauthentication_needed') return undefined
      throw error
    })
    // The user has granted the request before.
    if (opened?.step === 'redirect') return { location: opened.location, isTrusted: true }
    if (opened !== undefined) {
      const message = 'The user has to decide about this request'
      return await refuseSilently(services, opened.request, 'consent_required', message)
    }
  }
  const request = await getPending(services, id)
  return await refuseSilently(services, request, 'login_required', 'The user has to sign in')
}

async function refuseSilently(
  services: Services,
  request: PendingRow,
  error: string,
  description: string,
) {
  const location = await refuse(services, request, error, description)
  return { location, isTrusted: isTrusted(request) }
}
