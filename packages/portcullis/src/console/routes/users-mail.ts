import type { FastifyReply } from 'fastify'
import { ConsoleError } from '../errors.ts'
import { parseObject } from '../health/index.ts'
import type { AuthTarget } from '../settings.ts'
import { callAsAdmin, readJson } from './admin-endpoints.ts'

/** The emails that an administrator can send to a user, as types of links of the auth server. */
export const mailTypes = ['recovery', 'magiclink', 'signup', 'invite'] as const

export type MailType = (typeof mailTypes)[number]

/** The response of the route. It does not contain the link of the email. */
export interface SentMail {
  readonly email: string
}

interface MailRequest {
  readonly type: MailType
  readonly redirect_to?: string
}

/** Requests that the auth server sends an email to a user. Its error responses are forwarded unchanged. */
export async function sendUserMail(
  auth: AuthTarget,
  userId: string,
  { type, redirect_to }: MailRequest,
  reply: FastifyReply,
): Promise<SentMail | FastifyReply> {
  const found = await callAsAdmin(auth, { method: 'GET', path: `/admin/users/${userId}` })
  const user = await readJson(found)
  if (!found.ok) return reply.code(found.status).type('application/json').send(user)
  const email = String(parseObject(user)?.['email'] ?? '')
  if (email === '') {
    throw new ConsoleError(
      400,
      'no_email',
      'This user has no email address. Add one with “Edit”, then send the email.',
    )
  }
  const answer = await callAsAdmin(auth, {
    method: 'POST',
    path: '/admin/generate_link',
    body: { type, email, send: true, ...(redirect_to !== undefined && { redirect_to }) },
  })
  const made = await readJson(answer)
  if (!answer.ok) return reply.code(answer.status).type('application/json').send(made)
  // Other auth servers ignore `send`.
  if (parseObject(made)?.['sent'] === true) return { email }
  throw new ConsoleError(
    501,
    'not_sent',
    'This auth server cannot send emails for an administrator. Generate a link instead, and send it yourself.',
  )
}
