import { createHash, randomBytes } from 'node:crypto'
import { toDeviceUrl } from '../../config/oauth-server.ts'
import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'
import { toAuditEntry } from '../audit/audit.ts'
import { withQuery } from '../redirects/redirect-location.ts'
import { isBelowLevel } from '../sessions/assurance-level.ts'
import type { CallerRow } from '../sessions/statements/sessions.ts'
import { toCodeLocation, toErrorLocation } from './authorization-request.ts'
import { toScopes } from './requested-access.ts'
import {
  approveAuthorization,
  type ClaimedRow,
  claimAuthorization,
  denyAuthorization,
  findPending,
  type PendingRow,
} from './statements/authorizations.ts'

/** How long a client has to exchange a code. */
const codeLifetimeMs = 300_000

/** A user who decides about a request, with the session in which they do. */
export interface Decider {
  readonly person: CallerRow
  readonly ip: string
}

/** What happens to a request that a user has opened: the page asks, or redirects at once. */
export type OpenedAuthorization =
  | { readonly step: 'ask'; readonly request: ClaimedRow }
  | { readonly step: 'redirect'; readonly location: string }

/** Opens a request for a signed-in user. @throws {ApiError} */
export async function openAuthorization(
  services: Services,
  id: string,
  decider: Decider,
): Promise<OpenedAuthorization> {
  const request = await claim(services, id, decider)
  const isAsked = isConsentNeeded(request) || isBelowLevel(decider.person)
  if (isAsked) return { step: 'ask', request }
  return { step: 'redirect', location: await approve(services, request, decider, false) }
}

/** Handles the decision of the user, and returns where to redirect the browser. @throws {ApiError} */
export async function decideAuthorization(
  services: Services,
  id: string,
  decider: Decider,
  isApproved: boolean,
): Promise<string> {
  const request = await claim(services, id, decider)
  if (isApproved) return await approve(services, request, decider, true)
  return await refuse(services, request, 'access_denied', 'User denied the request')
}

/** Ends a request with an error for the client. @throws {ApiError} */
export async function refuse(
  services: Services,
  request: Pick<PendingRow, 'id' | 'user_id' | 'redirect_uri' | 'state' | 'user_code'>,
  error: string,
  description: string,
): Promise<string> {
  const { id, user_id: userId } = request
  const now = new Date(services.now())
  const [denied] = await services.db.run(denyAuthorization, { id, userId, now })
  if (denied === undefined) throw notFound()
  if (request.user_code !== null) return withQuery(toDeviceUrl(services.config), { done: 'denied' })
  return toErrorLocation(services, request, error, description)
}

/** Reads a request without a user, for the built-in page. @throws {ApiError} */
export async function getPending(services: Services, id: string): Promise<PendingRow> {
  const [request] = await services.db.run(findPending, { id, now: new Date(services.now()) })
  if (request === undefined) throw notFound()
  return request
}

/** @throws {ApiError} */
async function claim(services: Services, id: string, { person }: Decider): Promise<ClaimedRow> {
  const now = new Date(services.now())
  const [request] = await services.db.run(claimAuthorization, { id, userId: person.id, now })
  if (request === undefined) throw notFound()
  if (isSignInTooOld(request, person, now.getTime())) {
    throw new ApiError(
      'reauthentication_needed',
      'The client asks for a new sign-in: sign in again, then continue with the same authorization_id',
    )
  }
  return request
}

/** Whether the client requires a newer sign-in than that of the session. */
export function isSignInTooOld(
  { prompt, max_age: maxAge, created_at: createdAt }: PendingRow,
  person: CallerRow,
  nowMs: number,
): boolean {
  const signedInMs = toAuthTime(person)
  // Times of sign-ins have whole seconds.
  const requestedMs = Math.floor(Date.parse(createdAt) / 1_000) * 1_000
  const values = toScopes(prompt)
  const asksAgain = values.includes('login') || values.includes('select_account')
  if (asksAgain && signedInMs < requestedMs) return true
  // A sign-in during the request is as new as one can be, also for `max_age=0`.
  return maxAge !== null && signedInMs < Math.min(nowMs - maxAge * 1_000, requestedMs)
}

/** When the user signed in, in milliseconds. A refresh is not a sign-in. */
function toAuthTime({ session_amr: amr, session_created_at: createdAt }: CallerRow): number {
  const times = (amr ?? []).map(({ timestamp }) => timestamp * 1_000)
  return times.length > 0 ? Math.max(...times) : Date.parse(createdAt ?? '')
}

function isConsentNeeded({ granted_scopes: granted, ...request }: ClaimedRow): boolean {
  // Someone else may have sent the user the code of their device.
  if (request.user_code !== null) return true
  if (toScopes(request.prompt).includes('consent')) return true
  if (request.client_type === 'public' && canBeTaken(request.redirect_uri)) return true
  const scopes = toScopes(request.scope)
  return granted.some((known) => known === null || scopes.some((scope) => !known.includes(scope)))
}

/**
 * Whether another app on the same device could receive the response. The registration then does not
 * prove which app sends a request, so every request needs the consent of the user (RFC 8252, section 8.6).
 */
function canBeTaken(uri: string): boolean {
  return !uri.startsWith('https:')
}

/** @param isDecision whether the user decides now. @throws {ApiError} */
async function approve(
  services: Services,
  request: ClaimedRow,
  { person, ip }: Decider,
  isDecision: boolean,
): Promise<string> {
  if (person.session_id === null) {
    throw new ApiError('session_not_found', 'Granting access requires a session')
  }
  // Otherwise a stolen password would be enough to obtain the tokens of a client.
  if (isBelowLevel(person)) {
    throw new ApiError('insufficient_aal', 'AAL2 is required to grant access to an OAuth client')
  }
  const code = randomBytes(32).toString('base64url')
  const nowMs = services.now()
  const traits = { client_id: request.client_id, scope: request.scope }
  const [approved] = await services.db.run(approveAuthorization, {
    id: request.id,
    user_id: person.id,
    code_hash: toCodeHash(code).toString('hex'),
    code_expires_at: new Date(nowMs + codeLifetimeMs),
    aal: person.aal ?? 'aal1',
    amr: person.session_amr ?? [],
    auth_time: new Date(toAuthTime(person)),
    approved_in: person.session_id,
    audit: isDecision ? toAuditEntry('oauth_consent_granted', person, traits) : null,
    now: new Date(nowMs),
    ip,
  })
  if (approved === undefined) throw notFound()
  // A device asks for its tokens itself.
  if (request.user_code !== null)
    return withQuery(toDeviceUrl(services.config), { done: 'approved' })
  return toCodeLocation(services, request, code)
}

/** The code has 256 random bits, so a plain hash cannot be reversed by guessing. */
export function toCodeHash(code: string): Buffer {
  return createHash('sha256').update(code).digest()
}

function notFound(): ApiError {
  return new ApiError('oauth_authorization_not_found', 'authorization not found')
}
