import { generateKeyPairSync } from 'node:crypto'
import type { TestContext } from 'node:test'
import { type ClientServer, openClientServer } from '../../support/auth-js.ts'
import { password, send } from '../../support/http-client.ts'

export interface RecipeServer extends ClientServer {
  /** Creates a user, signs in, and returns the tokens. */
  openSession(): Promise<RecipeSession>
  /** The number of requests for the public keys. */
  countKeyRequests(): number
}

export interface RecipeSession {
  readonly id: string
  readonly email: string
  readonly token: string
  readonly refreshToken: string
  /** The access token with another signature. */
  readonly forgedToken: string
}

/** Opens the auth server of docs/recipes/README.md: it signs with a key pair and publishes its key. */
export async function openRecipeServer(
  t: TestContext,
  env: Readonly<Record<string, string>> = {},
): Promise<RecipeServer | undefined> {
  const server = await openClientServer(t, {
    AUTH_JWT_KEYS: createKeys(),
    AUTH_JWT_AUD: 'authenticated',
    AUTH_JWT_DEFAULT_GROUP_NAME: 'authenticated',
    AUTH_API_PATH_PREFIX: '/auth/v1',
    ...env,
  })
  if (!server) return undefined
  return {
    ...server,
    countKeyRequests: () => server.log.filter((line) => line.includes('/jwks.json')).length,
    async openSession() {
      const { id, email } = await server.newUser()
      const path = '/token?grant_type=password'
      const { body } = await send(server.url, path, { body: { email, password } })
      const { access_token: token, refresh_token: refreshToken } = body
      return { id, email, token, refreshToken, forgedToken: `${token.slice(0, -8)}AAAAAAAA` }
    },
  }
}

function createKeys(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const key = { ...privateKey.export({ format: 'jwk' }), kid: 'recipes', alg: 'ES256' }
  return JSON.stringify([{ ...key, key_ops: ['sign', 'verify'] }])
}

/** Repeats a request until it is refused, and returns the response. */
export async function exceedLimit<Answer extends { readonly status: number }>(
  limit: number,
  request: () => Promise<Answer>,
): Promise<Answer> {
  // A window may end in between, and then the counter starts again.
  const mostRequests = 2 * limit + 1
  for (let count = 1; count <= mostRequests; count += 1) {
    const answer = await request()
    if (answer.status === 429) return answer
  }
  throw new Error(`None of ${mostRequests} requests was refused`)
}
