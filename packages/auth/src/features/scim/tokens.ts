import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { ApiError, invalid } from '../../errors.ts'
import type { Services } from '../../services.ts'
import { type Administrator, toAdminAction } from '../audit/admin-action.ts'
import type { AuditAction } from '../audit/audit.ts'
import { uuidPattern } from '../sessions/bearer.ts'
import {
  addScimToken,
  findScimProvider,
  listScimTokens,
  removeScimToken,
  type ScimTokenRow,
} from './statements/tokens.ts'

/** Two while a token is replaced, and some for tests of the connection. */
const mostTokens = 5
const prefix = 'scim_'

/** The tokens of a provider, without the texts that clients present. */
export async function listTokens(
  { db }: Services,
  providerId: string,
): Promise<readonly ScimTokenRow[]> {
  return await db.run(listScimTokens, { providerId })
}

/** Only this response has the token; the server stores its hash. @throws {ApiError} */
export async function createScimToken(
  services: Services,
  providerId: string,
  admin: Administrator,
): Promise<ScimTokenRow & { readonly token: string }> {
  const token = `${prefix}${randomBytes(32).toString('base64url')}`
  const [row] = await services.db.run(addScimToken, {
    ...toAction(services, 'scim_token_created', providerId, randomUUID(), admin),
    token_hash: hashToken(token),
    most: mostTokens,
  })
  if (row !== undefined) return { ...row, token }
  throw invalid(`A provider cannot have more than ${mostTokens} SCIM tokens; delete one first`)
}

/** @throws {ApiError} */
export async function deleteScimToken(
  services: Services,
  providerId: string,
  id: string,
  admin: Administrator,
): Promise<void> {
  if (uuidPattern.test(id)) {
    const action = toAction(services, 'scim_token_deleted', providerId, id, admin)
    const [removed] = await services.db.run(removeScimToken, action)
    if (removed !== undefined) return
  }
  throw new ApiError('scim_token_not_found', 'The provider has no such SCIM token')
}

/** Returns the ID of the provider whose token this is. @throws {ApiError} */
export async function authenticateScim(
  { db }: Services,
  authorization: string | undefined,
): Promise<string> {
  const [, token] = /^Bearer (\S{1,200})$/i.exec(authorization ?? '') ?? []
  const [provider] =
    token === undefined ? [] : await db.run(findScimProvider, { tokenHash: hashToken(token) })
  if (provider !== undefined) return provider.id
  throw new ApiError('no_authorization', 'A valid SCIM token of an enabled provider is required')
}

function toAction(
  services: Services,
  action: AuditAction,
  providerId: string,
  id: string,
  admin: Administrator,
) {
  const subject = { sso_provider_id: providerId, scim_token_id: id }
  return { id, sso_provider_id: providerId, ...toAdminAction(services, action, admin, subject) }
}

/** In hexadecimal. The token has 256 random bits, so a plain hash cannot be reversed by guessing. */
function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
