import type { Call } from '../../../http/call.ts'
import { Type } from '../../../http/schema.ts'
import type { Services } from '../../../services.ts'
import { requireOAuthServer } from '../../oauth-clients/clients.ts'
import type { OAuthClientRow } from '../../oauth-clients/statements.ts'
import { acceptProof, refusedProof } from '../../sessions/proofs.ts'
import { authenticateClient } from '../clients.ts'

export const text = (description: string) => Type.Optional(Type.String({ description }))

/** How a client authenticates if it does not use the header `Authorization`. */
export const credentialFields = {
  client_id: text('The client, unless it is in the header Authorization'),
  client_secret: text('With client_secret_post'),
}

interface Credentials {
  readonly client_id?: string
  readonly client_secret?: string
}

/** The client that calls. @throws {ApiError} */
export async function authenticateCall(
  { body, header }: Pick<Call<Credentials>, 'body' | 'header'>,
  services: Services,
): Promise<OAuthClientRow> {
  requireOAuthServer(services)
  return await authenticateClient(services, {
    authorization: header('authorization'),
    client_id: body.client_id,
    client_secret: body.client_secret,
  })
}

/**
 * The thumbprint of the key whose proof is in the header `DPoP`; undefined if there is none.
 * @throws {ApiError}
 */
export async function readProofKey(
  { proven }: Pick<Call, 'proven'>,
  client: OAuthClientRow,
  services: Services,
): Promise<string | undefined> {
  if (proven.proof !== undefined) return await acceptProof(services, proven)
  if (!client.dpop_bound_access_tokens) return undefined
  throw refusedProof('This client only gets tokens that are bound to a key: send the header DPoP')
}

/** RFC 6749, section 3.2: a parameter without a value counts as absent. */
export function toParameters(body: object): Readonly<Record<string, string>> {
  const entries = Object.entries(body).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== '',
  )
  return Object.fromEntries(entries)
}
