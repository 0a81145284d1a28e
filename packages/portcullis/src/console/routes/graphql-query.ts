import { getIntrospectionQuery, type IntrospectionQuery } from 'graphql'
import { ConsoleError } from '../errors.ts'
import { parseHeaders } from '../request-headers.ts'
import type { AddRoutes, AuthTarget, ConsoleContext, GraphqlTarget } from '../settings.ts'
import { callUpstream } from '../upstream.ts'
import { callAsAdmin, readJson } from './admin-endpoints.ts'

/** A query of the page. */
export interface GraphqlQuery {
  readonly query: string
  readonly variables?: Readonly<Record<string, unknown>>
  readonly operationName?: string
  /** One `Name: value` per line. */
  readonly headers?: string
  /** The user as whom the query is sent; without it, the console adds no token. */
  readonly userId?: string
}

/** The response of the API, with any status. */
export interface GraphqlAnswer {
  readonly status: number
  readonly durationMs: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly text: string
}

export type GraphqlSchemaAnswer = IntrospectionQuery

const queryBody = {
  type: 'object',
  required: ['query'],
  additionalProperties: false,
  properties: {
    query: { type: 'string', minLength: 1, maxLength: 500_000 },
    variables: { type: 'object' },
    operationName: { type: 'string', maxLength: 1_000 },
    headers: { type: 'string', maxLength: 20_000 },
    userId: { type: 'string', pattern: '^[0-9a-fA-F-]{36}$' },
  },
} as const

const apiName = 'The GraphQL API'
const maxBytes = 8 * 1024 * 1024
const accept = 'application/graphql-response+json, application/json;q=0.9'

const reserved = {
  names:
    /^(?:accept|connection|content-length|content-type|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade)$/i,
  owner: 'the console and its HTTP client',
}

/** Sends queries to the configured GraphQL API, so that the page needs no access to other origins or to tokens. */
export const addRoutes: AddRoutes = (server, { graphql, auth }) => {
  if (!graphql) return

  server.post<{ Body: GraphqlQuery }>(
    '/api/graphql/query',
    { schema: { body: queryBody } },
    async ({ body }): Promise<GraphqlAnswer> => sendQuery(graphql, auth, body),
  )

  server.get('/api/graphql/schema', async (): Promise<GraphqlSchemaAnswer> => readSchema(graphql))
}

async function sendQuery(
  { url }: GraphqlTarget,
  auth: ConsoleContext['auth'],
  { headers: headerText = '', userId, ...request }: GraphqlQuery,
): Promise<GraphqlAnswer> {
  const headers = parseHeaders(headerText, reserved)
  if (userId !== undefined && 'authorization' in headers) {
    const message =
      'The query has a header Authorization and is sent as a user. Remove the header, or choose no user.'
    throw new ConsoleError(400, 'two_tokens', message)
  }
  const token = userId === undefined ? undefined : await issueToken(auth, userId)
  const startMs = performance.now()
  const answer = await callUpstream(apiName, url, {
    method: 'POST',
    headers: {
      ...headers,
      accept,
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(request),
    maxBytes,
  })
  const text = await answer.text()
  const durationMs = performance.now() - startMs
  const shown = [...answer.headers].filter(([name]) => name !== 'set-cookie')
  return { status: answer.status, durationMs, headers: shown, text }
}

/** The token is used for one request and never sent to the browser. The auth server writes an audit entry. */
async function issueToken(auth: AuthTarget | undefined, userId: string): Promise<string> {
  if (!auth) {
    const message = 'This console has no auth server. Start it with --auth-url and --auth-key.'
    throw new ConsoleError(409, 'no_auth', message)
  }
  const path = `/admin/users/${userId}/token`
  const answer = await callAsAdmin(auth, { method: 'POST', path })
  const {
    access_token: token,
    msg = '',
    error_code: code,
  }: { access_token?: string; msg?: string; error_code?: string } = JSON.parse(
    (await readJson(answer)) || '{}',
  )
  if (answer.ok && token !== undefined) return token
  const message =
    answer.status === 404 && code !== 'user_not_found'
      ? 'This auth server does not issue access tokens to administrators. Send an Authorization header instead.'
      : `The auth server did not issue an access token for this user: ${msg || `status ${answer.status}`}.`
  throw new ConsoleError(502, 'no_token', message)
}

async function readSchema({ url, auditHeaders }: GraphqlTarget): Promise<GraphqlSchemaAnswer> {
  const answer = await callUpstream(apiName, url, {
    method: 'POST',
    // With these headers, reading the schema does not count towards the limits of the local API.
    headers: { ...auditHeaders, accept, 'content-type': 'application/json' },
    body: JSON.stringify({ query: getIntrospectionQuery() }),
    maxBytes,
  })
  const { data, reason } = parseSchema(await answer.text())
  if (data !== undefined) return data
  const message = `The API did not return its schema (${reason ?? `status ${answer.status}`}). Queries work, but without completion and documentation.`
  throw new ConsoleError(502, 'no_schema', message)
}

function parseSchema(text: string): {
  readonly data?: IntrospectionQuery
  readonly reason?: string
} {
  try {
    const { data, errors } = JSON.parse(text)
    if (data?.__schema !== undefined) return { data }
    const reason: unknown = errors?.[0]?.message
    return typeof reason === 'string' ? { reason } : {}
  } catch {
    return { reason: 'its response is not JSON' }
  }
}
