import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'
import type { Claims } from '../../tokens/json-web-token.ts'
import { findUserOfClaims, readBearer, uuidPattern } from '../sessions/bearer.ts'
import { findExchangedKey, findKey, toPlan, toSubject } from './use-key.ts'

/** The caller of a request that a proxy asks about. */
export interface AuthorizedCaller {
  readonly subject: string
  readonly role: string
  /** Empty for a user with a session, as is `scope`. */
  readonly keyId: string
  readonly scope: string
  /** Empty without a plan. */
  readonly plan: string
}

/**
 * Finds the caller by an access token or an API key. Sessions, bans and keys are looked up, so that nothing that was
 * revoked is accepted.
 * @throws {ApiError} with status 401.
 */
export async function authorizeRequest(
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
    throw new ApiError(error.code, error.message, { status: 401, cause: error })
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
