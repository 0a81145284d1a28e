import { STATUS_CODES } from 'node:http'
import type { Refusal } from '../errors.ts'
import type { AccessTokenClaims } from '../verifier.ts'
import { createReadClaims, type RequireTokenOptions } from './read-claims.ts'

export type { RequireTokenOptions } from './read-claims.ts'

/** The part of the request that is needed from a GraphQL-over-HTTP handler. */
interface GraphqlRequest {
  readonly method?: string
  readonly url?: string
  readonly headers:
    | { readonly get: (name: string) => string | null }
    | { readonly [name: string]: string | string[] | undefined }
}

type GraphqlResponse = [
  body: string,
  init: { status: number; statusText: string; headers: Record<string, string> },
]

/** Options for a handler of `@portcullis/graphql-over-http`, created by {@link requireToken}. */
export interface TokenOptions<Claims> {
  /** Responds to requests with an invalid token, and leaves all others to the handler. */
  readonly parseRequestParams: (request: GraphqlRequest) => Promise<GraphqlResponse | undefined>
  /** The context for resolvers: the claims of the verified token. */
  readonly context: (request: GraphqlRequest) => { readonly claims: Claims | undefined }
}

/**
 * Returns options for a handler of `@portcullis/graphql-over-http`. Resolvers find the claims in
 * their context. A request with an invalid token gets a 401 response before its body is parsed.
 *
 * @example
 * ```ts
 * import { createVerifier } from '@portcullis/auth/verify'
 * import { requireToken } from '@portcullis/auth/verify/graphql'
 * import { createHandler } from '@portcullis/graphql-over-http/use/http'
 * import { buildSchema } from 'graphql'
 *
 * const verifier = createVerifier({ authUrl: 'https://auth.example.com' })
 * const schema = buildSchema('type Query { me: String }')
 * const handler = createHandler({ schema, ...requireToken({ verifier, isOptional: true }) })
 * ```
 */
export function requireToken<Claims extends AccessTokenClaims>(
  options: RequireTokenOptions<Claims>,
): TokenOptions<Claims> {
  const readClaims = createReadClaims({ toBody: toGraphqlBody, ...options })
  const claimsOf = new WeakMap<GraphqlRequest, Claims>()
  return {
    async parseRequestParams(request) {
      const { method, url } = request
      const authorization = readHeader(request, 'authorization')
      const dpop = readHeader(request, 'dpop')
      const outcome = await readClaims({ authorization, dpop, method, url })
      if (outcome.refusal) return toResponse(outcome.refusal)
      if (outcome.claims) claimsOf.set(request, outcome.claims)
      return undefined
    },
    context: (request) => ({ claims: claimsOf.get(request) }),
  }
}

function readHeader({ headers }: GraphqlRequest, name: string): string | undefined {
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined
  const value = (headers as Record<string, string | string[] | undefined>)[name]
  return typeof value === 'string' ? value : undefined
}

/** GraphQL clients display `errors`, so the reason is one of them. */
function toGraphqlBody({ code, message }: Refusal): string {
  return JSON.stringify({ errors: [{ message, extensions: { code } }] })
}

function toResponse({ status, headers, body }: Refusal): GraphqlResponse {
  const contentType = 'application/graphql-response+json; charset=utf-8'
  return [
    body,
    {
      status,
      statusText: STATUS_CODES[status] ?? '',
      headers: { ...headers, 'content-type': contentType },
    },
  ]
}
