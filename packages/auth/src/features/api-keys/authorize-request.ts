import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'
import type { Claims } from '../../tokens/json-web-token.ts'
import { findUserOfClaims, readBearer, uuidPattern } from '../sessions/bearer.ts'
import { findExchangedKey, findKey, toPlan, toSubject } from './use-key.ts'

/** The caller of a request that a proxy asks about. */
interface AuthorizedCaller {
  readonly subject: string
  readonly role: string
  /** Empty for a user with a session, as is `scope`. */
  readonly keyId: string
  readonly scope: string
  /** Empty without a plan. */
  readonly plan: string
}

/** The start of the names of all headers that tell an API who its caller is. */
export const identityPrefix = 'x-auth-'

/**
 * Finds the caller by an access token or an API key, and returns the headers for the API. Sessions, bans and keys are
 * looked up, so that nothing that was revoked is accepted. All headers are always present, so that they replace those
 * that a client has sent.
 * @throws {ApiError} with status 401, or 500 and above if the caller could not be looked up.
 */
export async function authorizeRequest(
  services: Services,
  authorization: string | undefined,
): Promise<Readonly<Record<string, string>>> {
  const caller = await findCaller(services, authorization)
  return {
    [`${identityPrefix}user-id`]: caller.subject,
    [`${identityPrefix}role`]: toHeaderValue(caller.role),
    [`${identityPrefix}key-id`]: caller.keyId,
    [`${identityPrefix}scope`]: toHeaderValue(caller.scope),
    [`${identityPrefix}plan`]: encodeURIComponent(caller.plan.toWellFormed()),
  }
}

/** Percent-encodes characters that headers cannot contain. A role and a scope rarely have any. */
function toHeaderValue(text: string): string {
  return text.toWellFormed().replaceAll(/[^\x20-\x7e]/gu, encodeURIComponent)
}

async function findCaller(
  services: Services,
  authorization: string | undefined,
): Promise<AuthorizedCaller> {
  const text = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1] ?? ''
  const key = await findKey(services, text)
  if (key !== undefined) {
    return {
      subject: toSubject(key),
      role: key.role,
      keyId: key.id,
      scope: key.scopes.join(' '),
      plan: toPlan(key) ?? '',
    }
  }
  try {
    const claims = readBearer(authorization, services.signer, services.now())
    return await findCallerOfClaims(services, claims)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    // A request without a token must not get an error code (RFC 6750, section 3.1).
    const authenticate = text === '' ? 'Bearer' : 'Bearer error="invalid_token"'
    throw new ApiError(error.code, error.message, { status: 401, authenticate, cause: error })
  }
}

async function findCallerOfClaims(services: Services, claims: Claims): Promise<AuthorizedCaller> {
  const { key_id: keyId, sub, role, scope, plan, app_metadata: metadata } = claims
  const toText = (value: unknown): string => (typeof value === 'string' ? value : '')
  const isKeyToken = typeof keyId === 'string' && uuidPattern.test(keyId)
  if (isKeyToken && (await findExchangedKey(services, keyId, claims)) === undefined) {
    throw new ApiError('invalid_api_key', 'Invalid API key')
  }
  if (!isKeyToken) await findUserOfClaims(claims, services)
  return {
    subject: toText(sub),
    role: toText(role),
    keyId: isKeyToken ? keyId : '',
    scope: toText(scope),
    plan: toText(plan ?? Object(metadata)['plan']),
  }
}
