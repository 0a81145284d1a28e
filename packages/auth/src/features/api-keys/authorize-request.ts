import { ApiError } from '../../errors.ts'
import { toNetwork } from '../../limits/buckets.ts'
import type { Services } from '../../services.ts'
import type { Claims } from '../../tokens/json-web-token.ts'
import { findUserOfClaims, readBearer } from '../sessions/bearer.ts'
import { findKeyOfAnyClient, findKeyOfClient } from './key-guesses.ts'
import { isKeyText } from './key-text.ts'
import { areKeyClaims, findExchangedKey, toPlan, toSubject } from './use-key.ts'

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

/** The client of a request, whose invalid keys are limited. */
export type RequestClient =
  | { readonly ip: string }
  /** The address may be that of the proxy, so all clients may have the same. */
  | { readonly sharedKey: string }

/**
 * Finds the caller by an access token or an API key, and returns the headers for the API. Sessions, bans and keys are
 * looked up, so that nothing that was revoked is accepted. All headers are always present, so that they replace those
 * that a client has sent.
 * @throws {ApiError} with status 401, 429 after too many invalid keys, or 500 and above if the caller could not be
 * looked up.
 */
export async function authorizeRequest(
  services: Services,
  authorization: string | undefined,
  client: RequestClient = { sharedKey: '' },
): Promise<Readonly<Record<string, string>>> {
  const caller = await findCaller(services, authorization, client)
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
  client: RequestClient,
): Promise<AuthorizedCaller> {
  const text = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1] ?? ''
  try {
    if (isKeyText(text)) return await findCallerOfKey(services, text, client)
    const claims = readBearer(authorization, services.signer, services.now())
    return await findCallerOfClaims(services, claims)
  } catch (error) {
    const isLimit = error instanceof ApiError && error.code === 'over_request_rate_limit'
    if (!(error instanceof ApiError) || error.status >= 500 || isLimit) throw error
    // A request without a token must not get an error code (RFC 6750, section 3.1).
    const authenticate = text === '' ? 'Bearer' : 'Bearer error="invalid_token"'
    throw new ApiError(error.code, error.message, { status: 401, authenticate, cause: error })
  }
}

/** @throws {ApiError} */
async function findCallerOfKey(
  services: Services,
  text: string,
  client: RequestClient,
): Promise<AuthorizedCaller> {
  const key =
    'ip' in client
      ? await findKeyOfClient(services, text, `${checkedBy} ${toNetwork(client.ip)}`)
      : await findKeyOfAnyClient(services, text, `${checkedBy} ${client.sharedKey}`)
  if (key === undefined) throw invalidKey()
  requireAudience(services, key.audience ?? services.config.tokens.audience)
  return {
    subject: toSubject(key),
    role: key.role,
    keyId: key.id,
    scope: key.scopes.join(' '),
    plan: toPlan(key) ?? '',
  }
}

/** Distinguishes the counts from those of the services that verify keys. */
const checkedBy = 'ext_authz'

function invalidKey(): ApiError {
  return new ApiError('invalid_api_key', 'Invalid API key')
}

/** A token for another API must not be accepted here. @throws {ApiError} */
function requireAudience({ config }: Services, audience: unknown): void {
  const { acceptedAudiences } = config.apiKeys
  if ([audience].flat().some((name) => acceptedAudiences.includes(`${name ?? ''}`))) return
  throw new ApiError('unexpected_audience', 'The token is for another audience')
}

async function findCallerOfClaims(services: Services, claims: Claims): Promise<AuthorizedCaller> {
  const { sub, role, scope, plan, app_metadata: metadata } = claims
  const toText = (value: unknown): string => (typeof value === 'string' ? value : '')
  requireAudience(services, claims.aud)
  const isKey = areKeyClaims(claims)
  if (isKey) {
    if ((await findExchangedKey(services, claims)) === undefined) throw invalidKey()
  } else await findUserOfClaims(claims, services)
  return {
    subject: toText(sub),
    role: toText(role),
    keyId: isKey ? claims.key_id : '',
    scope: toText(scope),
    plan: toText(plan ?? Object(metadata)['plan']),
  }
}
