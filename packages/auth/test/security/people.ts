import type { FlowServer } from '../support/flow-server.ts'
import { newEmail, send } from '../support/http-client.ts'

export interface Person {
  readonly id: string
  readonly email: string
}

export interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
}

type Server = Pick<FlowServer, 'url' | 'serviceToken'>

/** Creates a user with a confirmed address and no password, because hashing is slow. */
export async function newPerson({ url, serviceToken: token }: Server): Promise<Person> {
  const email = newEmail()
  const { body } = await send(url, '/admin/users', { body: { email, email_confirm: true }, token })
  return { id: body.id, email }
}

/** Opens a new session with a link. */
export async function signInByLink(
  { url, serviceToken: token }: Server,
  email: string,
): Promise<Tokens> {
  const made = await send(url, '/admin/generate_link', {
    body: { type: 'magiclink', email },
    token,
  })
  const { body } = await send(url, '/verify', {
    body: { type: 'magiclink', token_hash: made.body.hashed_token },
  })
  return body
}
