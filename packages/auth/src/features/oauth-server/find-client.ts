import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'
import { findOAuthClient, type OAuthClientRow } from '../oauth-clients/statements.ts'
import { uuidPattern } from '../sessions/bearer.ts'

/** @param id the `client_id` of a request. @throws {ApiError} */
export async function findClient(services: Services, id: string): Promise<OAuthClientRow> {
  const [client] = uuidPattern.test(id)
    ? await services.db.run(findOAuthClient, { id: id.toLowerCase() })
    : []
  if (client !== undefined) return client
  throw new ApiError('oauth_client_not_found', 'invalid client_id', { status: 400 })
}
