import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AddRoutes, AuthTarget } from '../settings.ts'
import { readUserAudit } from './users-audit.ts'
import { type MailType, mailTypes, sendUserMail } from './users-mail.ts'
import { callAsAdmin, readJson, type UserEndpoint, userEndpoints } from './users-upstream.ts'

type Texts = Readonly<Record<string, string>>

/** Path parameters must be UUIDs: dots and slashes would lead to other endpoints. */
const uuid = '(^[0-9a-fA-F-]{36}$)'

/** The response headers that are forwarded. */
const answerHeaders = ['x-total-count', 'retry-after'] as const

/** The routes of the Users page. They call the admin endpoints with a key that the page never sees. */
export const addRoutes: AddRoutes = (server, { auth }) => {
  if (!auth) return
  for (const endpoint of userEndpoints) {
    server.route<{ Params: Texts; Querystring: Texts }>({
      method: endpoint.method,
      url: toPattern(endpoint.path),
      schema: toSchema(endpoint),
      handler: (request, reply) => forward(auth, endpoint, request, reply),
    })
  }
  server.get<{ Params: { user_id: string }; Querystring: { from: number } }>(
    toPattern('/:user_id/audit'),
    {
      schema: {
        querystring: {
          type: 'object',
          properties: { from: { type: 'integer', minimum: 1, default: 1 } },
        },
      },
    },
    ({ params, query }, reply) =>
      readUserAudit(auth, params.user_id.toLowerCase(), query.from, reply),
  )
  server.post<{ Params: { user_id: string }; Body: { type: MailType; redirect_to?: string } }>(
    toPattern('/:user_id/mail'),
    {
      schema: {
        body: {
          type: 'object',
          required: ['type'],
          properties: { type: { enum: mailTypes }, redirect_to: { type: 'string' } },
          additionalProperties: false,
        },
      },
    },
    ({ params, body }, reply) => sendUserMail(auth, params.user_id, body, reply),
  )
}

function toPattern(path: string): string {
  return `/api/users${path.replaceAll(/:\w+/g, (name) => name + uuid)}`
}

function toSchema({ query = [], body }: UserEndpoint) {
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
  { method, upstream, check }: UserEndpoint,
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
  const text = await readJson(answer)
  if (answer.ok) check?.(text, { query: search, body })
  // Error responses of the auth server are forwarded unchanged.
  return reply.code(answer.status).type('application/json; charset=utf-8').send(text)
}
