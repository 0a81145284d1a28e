import { randomUUID } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import { clientHeader, password } from '../load/requests.ts'
import { createServiceToken } from '../servers/contestants.ts'

export type Kind = 'request' | 'admin' | 'cleanup' | 'sender'

/** A request that is sent once per round. Statements of its preparation count as well. */
export interface MeasuredRequest {
  readonly title: string
  readonly kind: 'request' | 'admin'
  send(round: number): Promise<void>
}

interface CallOptions {
  readonly method?: string
  readonly token?: string
  readonly body?: object
}

// oxlint-disable-next-line typescript/no-explicit-any -- bodies of many endpoints
type Body = any

/** Creates the requests; `emails` are addresses of existing users, a few for each round. */
export function createRequests(
  url: string,
  emails: readonly string[],
  ids: readonly string[],
): readonly MeasuredRequest[] {
  const serviceToken = createServiceToken()
  const call = async (path: string, { method, token, body }: CallOptions = {}): Promise<Body> => {
    const response = await fetch(`${url}${path}`, {
      method: method ?? (body ? 'POST' : 'GET'),
      headers: {
        'content-type': 'application/json',
        [clientHeader]: randomUUID(),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text.slice(0, 300)}`)
    return text === '' ? undefined : JSON.parse(text)
  }
  const emailOf = (round: number) => emails[round % emails.length] ?? ''
  const idOf = (round: number) => ids[round % ids.length] ?? ''
  const logIn = (round: number) =>
    call('/token?grant_type=password', { body: { email: emailOf(round), password } })
  const newEmail = () => `${randomUUID()}@bench.example`
  const asAdmin = { token: serviceToken }
  const newLink = (type: string, email: string, more: object = {}) =>
    call('/admin/generate_link', { ...asAdmin, body: { type, email, ...more } })
  const newUser = () =>
    call('/admin/users', { ...asAdmin, body: { email: newEmail(), password, email_confirm: true } })
  const request = (title: string, send: MeasuredRequest['send']): MeasuredRequest => ({
    title,
    kind: 'request',
    send,
  })
  const page = (title: string, path: string): MeasuredRequest => ({
    title,
    kind: 'admin',
    send: async () => void (await call(path, asAdmin)),
  })

  return [
    request('GET /user', async (round) => {
      const { access_token: token } = await logIn(round)
      await call('/user', { token })
    }),
    request('refresh', async (round) => {
      const { refresh_token } = await logIn(round)
      await call('/token?grant_type=refresh_token', { body: { refresh_token } })
    }),
    request('wrong password', async (round) => {
      const body = { email: emailOf(round), password: 'not the right one' }
      await call('/token?grant_type=password', { body }).catch((error: Error) => {
        if (!error.message.includes('invalid_credentials')) throw error
      })
    }),
    request('sign-up', async () => {
      await call('/signup', { body: { email: newEmail(), password } })
    }),
    request('sign-up with an address that is taken', async (round) => {
      await call('/signup', { body: { email: emailOf(round), password } })
    }),
    request('anonymous sign-up', async () => {
      await call('/signup', { body: { data: {} } })
    }),
    request('PUT /user', async (round) => {
      const { access_token: token } = await logIn(round)
      await call('/user', { method: 'PUT', token, body: { data: { visits: round } } })
      await call('/user', { method: 'PUT', token, body: { email: newEmail() } })
    }),
    request('logout', async (round) => {
      for (const scope of ['local', 'others', 'global']) {
        const { access_token: token } = await logIn(round)
        await call(`/logout?scope=${scope}`, { method: 'POST', token })
      }
    }),
    request('one-time codes', async (round) => {
      for (const email of [emailOf(round), newEmail()]) {
        await call('/otp', { body: { email } })
        await call('/recover', { body: { email } })
        await call('/magiclink', { body: { email } })
        await call('/resend', { body: { type: 'signup', email } })
      }
      const { access_token: token } = await logIn(round)
      await call('/reauthenticate', { token })
    }),
    request('verify', async () => {
      for (const type of ['signup', 'magiclink', 'recovery']) {
        const email = type === 'signup' ? newEmail() : (await newUser()).email
        const { hashed_token } = await newLink(type, email, type === 'signup' ? { password } : {})
        await call('/verify', { body: { type, token_hash: hashed_token } })
      }
      const { email } = await newUser()
      const { email_otp } = await newLink('magiclink', email)
      await call('/verify', { body: { type: 'email', email, token: email_otp } })
    }),
    request('second factors', async () => {
      const { email } = await newUser()
      const { access_token: token } = await call('/token?grant_type=password', {
        body: { email, password },
      })
      const factor = { factor_type: 'totp', friendly_name: 'app' }
      const { id, totp } = await call('/factors', { token, body: factor })
      const app = new TOTP({ secret: Secret.fromBase32(totp.secret), algorithm: 'SHA1', digits: 6 })
      const challenge = await call(`/factors/${id}/challenge`, { token, body: {} })
      const verified = await call(`/factors/${id}/verify`, {
        token,
        body: { challenge_id: challenge.id, code: app.generate() },
      })
      await call(`/factors/${id}`, { method: 'DELETE', token: verified.access_token })
    }),
    request('sessions', async (round) => {
      const { access_token: token } = await logIn(round)
      await call('/user/sessions', { token })
    }),
    request('invitations', async () => {
      await call('/invite', { ...asAdmin, body: { email: newEmail() } })
    }),
    request('one user, for administrators', async (round) => {
      const path = `/admin/users/${idOf(round)}`
      await call(path, asAdmin)
      await call(path, { ...asAdmin, method: 'PUT', body: { user_metadata: { round } } })
      await call(`${path}/factors`, asAdmin)
      await call(`${path}/sessions`, asAdmin)
      const { id } = await newUser()
      await call(`/admin/users/${id}`, { ...asAdmin, method: 'DELETE', body: {} })
    }),
    page('users, first page', '/admin/users?page=1&per_page=50'),
    page('users, oldest first', '/admin/users?page=1&per_page=50&sort=created_at%20asc'),
    page('users, by cursor', '/admin/users?limit=50'),
    page('users, filter with many matches', '/admin/users?filter=bench.example'),
    page('users, filter by a part of a phone number', '/admin/users?filter=%2B1%205550'),
    page('users, filter by the start of an id', '/admin/users?filter=0a1b2c3d'),
    page('failed sign-ins', '/admin/sign-in-failures'),
    page('counted sign-ins', '/admin/sign-ins'),
    page('users, filter with some matches', '/admin/users?filter=abc'),
    page('users, filter with one match', '/admin/users?filter=cee631121c2e'),
    page('users, filter with no match', '/admin/users?filter=no-user-has-this'),
    page('users, filter with few matches of many trigrams', '/admin/users?filter=Person%20abcd'),
    page('users, short filter with many matches', '/admin/users?filter=a'),
    page('users, short filter with no match', '/admin/users?filter=%C3%BC'),
    page('users, by cursor, many matches', '/admin/users?limit=50&filter=bench.example'),
    page('users, by cursor, no match', '/admin/users?limit=50&filter=no-user-has-this'),
    page('users, by cursor, short filter with no match', '/admin/users?limit=50&filter=%C3%BC'),
    page('audit log, first page', '/admin/audit?per_page=50'),
    page('audit log, page 100', '/admin/audit?per_page=50&page=100'),
    ...[
      'author:bench.example',
      'author:cee631121c2e',
      'author:no-user-has-this',
      'action:token_refreshed',
      'action:login',
      'action:user_deleted',
      'action:nothing-like-this',
      'type:token',
      'type:factor',
      'type:nothing-like-this',
      `user:${randomUUID()}`,
    ].map((search) =>
      page(
        `audit log, ${search.replace(/user:.*/, 'user: an unknown one')}`,
        `/admin/audit?query=${encodeURIComponent(search)}`,
      ),
    ),
    {
      title: 'audit log, user: a busy one',
      kind: 'admin',
      send: async () => void (await call(`/admin/audit?query=user:${ids[0]}`, asAdmin)),
    },
  ]
}
