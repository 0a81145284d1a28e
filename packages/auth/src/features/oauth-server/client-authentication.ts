import { createHash, timingSafeEqual } from 'node:crypto'
import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'
import type { AuthMethod } from '../oauth-clients/client-fields.ts'
import { findClientSecrets, type OAuthClientRow } from '../oauth-clients/statements.ts'
import { findClient } from './find-client.ts'
import { invalidClient, oauthError } from './oauth-error.ts'

/** How a client authenticates: in the header `Authorization` or in the body. */
export interface ClientCredentials {
  readonly authorization: string | undefined
  readonly client_id: string | undefined
  readonly client_secret: string | undefined
}

interface PresentedSecret {
  readonly id: string
  readonly secret: string
  readonly method: AuthMethod
}

/** @throws {ApiError} unless the client is known and has presented its secret, if it has one. */
export async function authenticateClient(
  services: Services,
  credentials: ClientCredentials,
): Promise<OAuthClientRow> {
  const { id, secret, method } = readCredentials(credentials)
  const client = await findClient(services, id).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.code !== 'oauth_client_not_found') throw error
    throw invalidClient('Unknown client, or wrong client credentials')
  })
  const { token_endpoint_auth_method: registered } = client
  if (method !== registered) {
    throw invalidClient(
      `invalid authentication method: client is registered for '${registered}' but '${method}' was used`,
    )
  }
  if (method === 'none') return client
  const now = new Date(services.now())
  const [row] = await services.db.run(findClientSecrets, { id: client.id, now })
  const hashes = [row?.secret_hash, row?.previous_secret_hash]
  if (hashes.some((hash) => hash && isHashOf(hash, secret))) return client
  throw invalidClient('Unknown client, or wrong client credentials')
}

export function isHashOf(hash: Buffer, secret: string): boolean {
  return timingSafeEqual(hash, createHash('sha256').update(secret).digest())
}

/** @throws {ApiError} */
function readCredentials({
  authorization,
  client_id: id = '',
  client_secret: secret = '',
}: ClientCredentials): PresentedSecret {
  const basic = /^Basic +([A-Za-z\d+/]+=*)$/i.exec(authorization ?? '')?.[1]
  if (basic === undefined) {
    if (id === '') throw invalidClient('client_id is required')
    return { id, secret, method: secret === '' ? 'none' : 'client_secret_post' }
  }
  const text = Buffer.from(basic, 'base64').toString('utf8')
  const [name = '', ...rest] = text.split(':')
  const inHeader = { id: decode(name), secret: decode(rest.join(':')) }
  // RFC 6749, section 2.3: a client uses one method of authentication per request.
  if (secret !== '' || (id !== '' && id !== inHeader.id)) {
    throw oauthError(
      'invalid_request',
      'Send the client credentials once: in the header or in the body',
    )
  }
  return { ...inHeader, method: 'client_secret_basic' }
}

/** The two parts are form-encoded (RFC 6749, section 2.3.1). @throws {ApiError} */
function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw invalidClient('The client credentials in the header are not form-encoded')
  }
}
