import type { AddRoutes } from '../settings.ts'
import { addAdminEndpoints, toPattern } from './admin-endpoints.ts'
import { readUserAudit } from './users-audit.ts'
import { type MailType, mailTypes, sendUserMail } from './users-mail.ts'
import { userEndpoints } from './users-upstream.ts'

const root = '/api/users'

/** The routes of the Users page. They call the admin endpoints with a key that the page never sees. */
export const addRoutes: AddRoutes = (server, { auth }) => {
  if (!auth) return
  addAdminEndpoints(server, auth, root, userEndpoints)
  server.get<{ Params: { user_id: string }; Querystring: { from: number } }>(
    toPattern(`${root}/:user_id/audit`),
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
    toPattern(`${root}/:user_id/mail`),
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
