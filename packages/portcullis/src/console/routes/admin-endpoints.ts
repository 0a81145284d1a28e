import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ConsoleError } from '../errors.ts'
import { parseObject, toKeyHeaders } from '../health/index.ts'
import type { AuthTarget } from '../settings.ts'
import { callUpstream } from '../upstream.ts'

interface AdminCall {
  readonly method: string
  readonly path: string
  readonly query?: URLSearchParams
  readonly body?: unknown
}

/** Calls the auth server as an administrator. @throws {ConsoleError} if it refuses the service key. */
export async function callAsAdmin(auth: AuthTarget, call: AdminCall): Promise<Response> {
  const { method, path, query, body } = call
  const search = query && query.size > 0 ? `?${query}` : ''
  const answer = await callUpstream('The auth server', `${auth.url}${path}${search}`, {
    method,
    headers: {
      ...toKeyHeaders(await auth.key()),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (!(await isKeyRefused(answer))) return answer
  throw new ConsoleError(
    502,
    'key_refused',
    `The auth server refused the service key (status ${answer.status}). Start the console with a service key of this server.`,
  )
}

/** The server's own message about a key would be misleading, because the user of the page did not send one. */
async function isKeyRefused(answer: Response): Promise<boolean> {
  if (answer.status !== 403) return answer.status === 401
  const { error_code: code } = parseObject(await answer.clone().text()) ?? {}
  return code === 'bad_jwt' || code === 'not_admin'
}

/** Returns the body. @throws {ConsoleError} if the response is not from an auth server. */
export async function readJson(answer: Response): Promise<string> {
  const text = await answer.text()
  const type = answer.headers.get('content-type') ?? ''
  if (text === '' || /^application\/json\b/.test(type)) return text
  throw new ConsoleError(
    502,
    'upstream_unexpected',
    `Unexpected response from the auth server (status ${answer.status}, not JSON). Check that its URL is that of an auth server.`,
  )
}

export interface CheckedRequest {
  readonly query: URLSearchParams
  readonly body: unknown
}

/** A call that the page may make, and the endpoint of the auth server behind it. */
export interface AdminEndpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The path below the root of the page. Every parameter is a UUID, except `:identifier`. */
  readonly path: string
  readonly upstream: string
  /** The query parameters that are forwarded. */
  readonly query?: readonly string[]
  /** The body fields that are forwarded. */
  readonly body?: Readonly<Record<string, object>>
  /** Checks a successful response. @throws {ConsoleError} */
  readonly check?: (answer: string, request: CheckedRequest) => void
}

export const text = { type: 'string' } as const
export const yesOrNo = { type: 'boolean' } as const

type Texts = Readonly<Record<string, string>>

/** The response headers that are forwarded. */
const answerHeaders = ['x-total-count', 'retry-after'] as const

/** Adds a route for each endpoint. The key allows every admin call; the list restricts the page to these. */
export function addAdminEndpoints(
  server: FastifyInstance,
  auth: AuthTarget,
  root: string,
  endpoints: readonly AdminEndpoint[],
): void {
  for (const endpoint of endpoints) {
    server.route<{ Params: Texts; Querystring: Texts }>({
      method: endpoint.method,
      url: toPattern(root + endpoint.path),
      schema: toSchema(endpoint),
      handler: (request, reply) => forward(auth, endpoint, request, reply),
    })
  }
}

/** The parameters of a path: dots and slashes would lead to other endpoints. */
const uuid = '(^[0-9a-fA-F-]{36}$)'
const patterns: Texts = { ':identifier': '(^custom[:][a-z0-9:-]{1,43}$)' }

/** Returns the pattern of the route for a path with parameters. */
export function toPattern(path: string): string {
  return path.replaceAll(/:\w+/g, (name) => name + (patterns[name] ?? uuid))
}

function toSchema({ query = [], body }: AdminEndpoint) {
  return {
    querystring: {
      type: 'object',
      properties: Object.fromEntries(query.map((name) => [name, { type: 'string' }])),
      additionalProperties: false,
    },
    ...(body && { body: { type: 'object', properties: body, additionalProperties: false } }),
  }
}

async function forward(
  auth: AuthTarget,
  { method, upstream, check }: AdminEndpoint,
  { params, query, body }: FastifyRequest<{ Params: Texts; Querystring: Texts }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const search = new URLSearchParams(query)
  const answer = await callAsAdmin(auth, {
    method,
    path: upstream.replaceAll(/:(\w+)/g, (_, name: string) => params[name] ?? ''),
    query: search,
    ...(body !== undefined && body !== null && { body }),
  })
  for (const name of answerHeaders) {
    const value = answer.headers.get(name)
    if (value !== null) reply.header(name, value)
  }
  const content = await readJson(answer)
  if (answer.ok) check?.(content, { query: search, body })
  // Error responses of the auth server are forwarded unchanged.
  return reply.code(answer.status).type('application/json; charset=utf-8').send(content)
}
