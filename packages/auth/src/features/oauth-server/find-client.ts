import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'
import { findOAuthClient, type OAuthClientRow } from '../oauth-clients/statements.ts'
import { uuidPattern } from '../sessions/bearer.ts'
import { findByDocument } from './client-documents.ts'

/** @param id the `client_id` of a request. @throws {ApiError} */
export async function findClient(services: Services, id: string): Promise<OAuthClientRow> {
  const { allowClientDocuments } = services.config.oauthServer
  if (allowClientDocuments && id.startsWith('https:')) return await findByDocument(services, id)
  const [client] = uuidPattern.test(id)
    ? await services.db.run(findOAuthClient, { id: id.toLowerCase() })
    : []
  // A client with a document has only one identifier.
  if (client !== undefined && client.metadata_url === null) return client
  throw new ApiError('oauth_client_not_found', 'invalid client_id', { status: 400 })
}
