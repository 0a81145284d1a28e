import assert from 'node:assert/strict'
import { type HttpAnswer, newEmail, password, send } from './http-client.ts'
import type { Mailbox } from './mailbox.ts'

/** The environment for `runMainFlows`, besides the database and a mail server. */
export const mainFlowsEnvironment = {
  AUTH_MAILER_AUTOCONFIRM: 'false',
  AUTH_SMTP_MAX_FREQUENCY: '0s',
  AUTH_RATE_LIMIT_TOKEN_REFRESH: '1000000',
  AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
} as const

export interface MainFlowsSettings {
  readonly url: string
  readonly serviceToken: string
  readonly mailbox: Mailbox
}

/** Runs the most common flows over HTTP only, so that any version of the server can be tested. */
export async function runMainFlows({ url, serviceToken, mailbox }: MainFlowsSettings) {
  const email = newEmail()
  const post = (path: string, body: unknown, token?: string) =>
    expect(200, send(url, path, { body, ...(token !== undefined && { token }) }))

  await post('/signup', { email, password, data: { full_name: 'Main Flow' } })
  const { tokenHash } = await mailbox.readNext(email)
  const { body: confirmed } = await post('/verify', { type: 'signup', token_hash: tokenHash })
  const { body: login } = await post('/token?grant_type=password', { email, password })
  const { body: refreshed } = await post('/token?grant_type=refresh_token', {
    refresh_token: login.refresh_token,
  })
  const token: string = refreshed.access_token
  const { body: own } = await expect(200, send(url, '/user', { token }))
  assert.equal(own.id, confirmed.user.id)
  await expect(
    200,
    send(url, '/user', { method: 'PUT', token, body: { data: { full_name: 'Changed Flow' } } }),
  )
  await post('/otp', { email })
  const { code } = await mailbox.readNext(email)
  await post('/verify', { type: 'magiclink', email, token: code })
  await post('/recover', { email })
  const recovery = await mailbox.readNext(email)
  await post('/verify', { type: 'recovery', token_hash: recovery.tokenHash })
  const { body: factor } = await post(
    '/factors',
    { factor_type: 'totp', friendly_name: 'x' },
    token,
  )
  await post(`/factors/${factor.id}/challenge`, {}, token)
  await expect(200, send(url, `/factors/${factor.id}`, { method: 'DELETE', token }))
  const { body: guest } = await post('/signup', {})
  assert.equal(guest.user.is_anonymous, true)

  const admin = { token: serviceToken }
  const { body: made } = await post('/admin/users', { email: newEmail(), password }, serviceToken)
  const { body: found } = await expect(200, send(url, '/admin/users?filter=changed flow', admin))
  assert.ok(found.users.some(({ id }: { id: string }) => id === own.id))
  await expect(
    200,
    send(url, `/admin/users/${made.id}`, {
      ...admin,
      method: 'PUT',
      body: { user_metadata: { seen: true } },
    }),
  )
  await expect(200, send(url, `/admin/users/${made.id}`, { ...admin, method: 'DELETE' }))
  await expect(200, send(url, '/admin/audit', admin))
  await expect(204, send(url, '/logout?scope=global', { method: 'POST', token }))
  const ended = await send(url, '/token?grant_type=refresh_token', {
    body: { refresh_token: refreshed.refresh_token },
  })
  assert.equal(ended.status, 400, JSON.stringify(ended.body))
}

async function expect(status: number, pending: Promise<HttpAnswer>): Promise<HttpAnswer> {
  const answer = await pending
  assert.equal(answer.status, status, JSON.stringify(answer.body))
  return answer
}
