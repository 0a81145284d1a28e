import type { IncomingHttpHeaders } from 'node:http'
import {
  badToken,
  findAdminRole,
  findUserOfClaims,
  readAuthorization,
} from '../../features/sessions/bearer.ts'
import type { ProvableRequest } from '../../features/sessions/proofs.ts'
import type { Services } from '../../services.ts'
import { checkAudience } from '../../tokens/audiences.ts'
import type { ClientGrant } from '../../tokens/client-grants.ts'
import { type Call, readHeader } from '../call.ts'
import type { Endpoint } from '../endpoint.ts'
import { isSdkDialect } from './dialect.ts'
import { versionHeader } from './error-answer.ts'

export type Identified = Pick<Call, 'caller' | 'adminRole' | 'adminSubject' | 'audience'>

/** Identifies the caller if the endpoint requires one. @throws {ApiError} */
export async function identifyCaller(
  { allowed, moreRoles, acceptsClients = false }: Endpoint,
  headers: IncomingHttpHeaders,
  proven: ProvableRequest,
  services: Services,
): Promise<Identified> {
  const { tokens } = services.config
  const claims =
    allowed === 'anyone'
      ? undefined
      : await readAuthorization(headers.authorization, proven, services)
  const isUser = allowed === 'user' || allowed === 'former user'
  const caller =
    claims && isUser
      ? await findUserOfClaims(claims, services, {
          ended: acceptsEndedSession(allowed, headers, services),
          ofClients: acceptsClients,
        })
      : undefined
  if (caller?.oauth_grant) checkOwnAudience(caller.oauth_grant)
  const adminRole =
    claims && allowed === 'admin' ? await findAdminRole(claims, services, moreRoles) : undefined
  const claimed = typeof claims?.['aud'] === 'string' && !adminRole ? claims['aud'] : undefined
  const named = readHeader(headers, 'x-jwt-aud') || undefined
  if (named !== undefined) checkAudience(named, tokens)
  return {
    caller,
    adminRole,
    adminSubject: adminRole === undefined ? undefined : toSubject(claims?.['sub']),
    audience: named ?? claimed ?? tokens.audience,
  }
}

/**
 * The API that a token is for must not be able to read the profile with it, whatever audience it names.
 * @throws {ApiError}
 */
function checkOwnAudience({ resource }: ClientGrant): void {
  if (resource === '') return
  throw badToken(`The token is for ${resource}. Request one without resource`)
}

/** Clients of Supabase Auth rely on a rejection after a global sign-out. */
function acceptsEndedSession(
  allowed: Endpoint['allowed'],
  headers: IncomingHttpHeaders,
  { config }: Pick<Services, 'config'>,
): boolean {
  const isSdk = isSdkDialect(config.api.compatMode, readHeader(headers, versionHeader))
  return allowed === 'former user' && !isSdk
}

/** Undefined if there is none, or if it cannot be stored in the audit log. */
function toSubject(sub: unknown): string | undefined {
  return typeof sub === 'string' && /^[\x21-\x7e]{1,128}$/.test(sub) ? sub : undefined
}
