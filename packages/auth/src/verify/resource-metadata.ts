import { proofAlgorithms } from '../dpop/proof.ts'

/** An API whose clients get their tokens from an auth server. */
export interface ProtectedResource {
  /** The URL of the API. Clients send it as `resource`, and it is the audience of their tokens. */
  readonly resource: string | URL
  /** The issuers of the auth servers whose tokens the API accepts. */
  readonly authorizationServers: readonly (string | URL)[]
  /** The scopes that clients need for this API. Default: clients do not learn about scopes. */
  readonly scopes?: readonly string[]
  /** The name of the API for users. Default: none. */
  readonly name?: string
  /**
   * Whether the API accepts tokens that are bound to a key (DPoP), or accepts no others. Default: the
   * metadata does not say.
   */
  readonly dpop?: 'accepted' | 'required'
}

/** The metadata of an API (RFC 9728), by which clients find its auth server. */
export interface ResourceMetadata {
  /** The path at which the API serves `body`, without a token. */
  readonly path: string
  /** The complete URL of `path`, for the header `WWW-Authenticate`. */
  readonly url: string
  /** The JSON document. Its content type is `application/json`. */
  readonly body: string
}

/**
 * Creates the metadata of an API, such as an MCP server, from which clients learn where to sign in.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http'
 * import { createResourceMetadata, createVerifier, toRefusal } from '@portcullis/auth/verify'
 *
 * const resource = 'https://notes.example/mcp'
 * const authUrl = 'https://auth.example.com'
 * const metadata = createResourceMetadata({ resource, authorizationServers: [authUrl] })
 * const verifier = createVerifier({ authUrl, audience: resource })
 *
 * createServer(async (request, response) => {
 *   if (request.url === metadata.path) {
 *     response.setHeader('content-type', 'application/json').end(metadata.body)
 *     return
 *   }
 *   try {
 *     const { sub } = await verifier.verifyHeader(request.headers.authorization)
 *     response.end(`Hello ${sub}`)
 *   } catch (error) {
 *     const refusal = toRefusal(error, metadata)
 *     if (refusal === undefined) throw error
 *     response.writeHead(refusal.status, refusal.headers).end(refusal.body)
 *   }
 * }).listen(3000)
 * ```
 * @throws {TypeError} if a URL is invalid.
 */
export function createResourceMetadata({
  resource,
  authorizationServers,
  scopes,
  name,
  dpop,
}: ProtectedResource): ResourceMetadata {
  const text = String(resource)
  if (!/^https?:\/\/[^/]/.test(text) || !URL.canParse(text) || text.includes('#')) {
    throw new TypeError(
      `createResourceMetadata: "resource" must be the URL of the API without a fragment; it is "${text}"`,
    )
  }
  const { origin, pathname } = new URL(text)
  const path = `/.well-known/oauth-protected-resource${pathname === '/' ? '' : pathname}`
  const document = {
    resource: text,
    authorization_servers: authorizationServers.map(String),
    bearer_methods_supported: ['header'],
    ...(scopes !== undefined && { scopes_supported: scopes }),
    ...(name !== undefined && { resource_name: name }),
    ...(dpop !== undefined && {
      dpop_signing_alg_values_supported: proofAlgorithms,
      dpop_bound_access_tokens_required: dpop === 'required',
    }),
  }
  return { path, url: `${origin}${path}`, body: JSON.stringify(document) }
}
