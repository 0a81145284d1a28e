import assert from 'node:assert/strict'
import { SignJWT } from 'jose'
import { jwtSecret } from '../support/auth-server.ts'
import type { FlowServer } from '../support/flow-server.ts'
import { type HttpAnswer, newEmail, password, send } from '../support/http-client.ts'

export const uuid = /^[\da-f]{8}-[\da-f]{4}-[1-8][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/
export const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/

/** A signed-in user. */
export interface Person {
  readonly id: string
  readonly email: string
  readonly token: string
  readonly refreshToken: string
}

type AdminServer = Pick<FlowServer, 'url' | 'serviceToken'>

export function logIn(url: string, email: string, secret: string = password): Promise<HttpAnswer> {
  return send(url, '/token?grant_type=password', { body: { email, password: secret } })
}

/** Creates a user with a confirmed address, no password, and a session. */
export async function signIn(server: AdminServer): Promise<Person> {
  return signInAgain(server, await createUser(server))
}

/** Opens another session of the same user with a link, because hashing a password is slow. */
export async function signInAgain(
  { url, serviceToken }: AdminServer,
  { id, email }: Pick<Person, 'id' | 'email'>,
): Promise<Person> {
  const link = await send(url, '/admin/generate_link', {
    token: serviceToken,
    body: { type: 'magiclink', email },
  })
  const { hashed_token: token, verification_type: type } = link.body
  const { status, body } = await send(url, '/verify', { body: { type, token } })
  assert.equal(status, 200, JSON.stringify(body))
  return { id, email, token: body.access_token, refreshToken: body.refresh_token }
}

export function refresh(url: string, refreshToken: string): Promise<HttpAnswer> {
  return send(url, '/token?grant_type=refresh_token', { body: { refresh_token: refreshToken } })
}

/** A JWT signed with the secret, for example by another service of the operator. */
export function signToken(
  claims: Readonly<Record<string, unknown>>,
  secret: string = jwtSecret,
): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .sign(new TextEncoder().encode(secret))
}

/** Creates a user as an administrator, with only a confirmed address. */
export async function createUser(
  { url, serviceToken }: AdminServer,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<HttpAnswer['body']> {
  const body = { email: newEmail(), email_confirm: true, ...fields }
  const path = `/admin/users/${crypto.randomUUID()}`
  const answer = await send(url, path, { token: serviceToken, body })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body
}
