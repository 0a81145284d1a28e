import { createHash, randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { findFreePort } from '@portcullis/test-servers'
import { createFactorCalls, factorEnvironment, type SignedInUser } from './factors.ts'
import { type FlowServer, openFlowServer } from './flow-server.ts'
import { type HttpAnswer, send } from './http-client.ts'
import { signingKeys } from './signing-keys.ts'

export const callback = 'https://client.example/callback'

export interface TestClient {
  readonly client_id: string
  /** Undefined for a public client. */
  readonly client_secret: string | undefined
}

export type Fields = Readonly<Record<string, string>>

/** A request of a client, with the secret that the client keeps. */
export interface StartedRequest {
  readonly answer: HttpAnswer
  readonly id: string
  readonly verifier: string
}

export interface AuthorizationServer extends FlowServer {
  readonly users: ReturnType<typeof createFactorCalls>
  /** Its variables, for another server on the same database. */
  readonly environment: Fields
  newClient(body?: object): Promise<TestClient>
  /** Opens /oauth/authorize like a browser. */
  start(client: TestClient, fields?: Fields): Promise<StartedRequest>
  /** What the consent page of the site requests. */
  details(who: Pick<SignedInUser, 'token'>, id: string): Promise<HttpAnswer>
  decide(who: Pick<SignedInUser, 'token'>, id: string, action: string): Promise<HttpAnswer>
  /** Starts a request and approves it. Returns the parameters of the redirect. */
  approve(
    client: TestClient,
    who: Pick<SignedInUser, 'token'>,
    fields?: Fields,
  ): Promise<StartedRequest & { readonly returned: Fields }>
  /** Posts to an endpoint with the credentials of the client. */
  ask(client: TestClient, path: string, fields: Fields): Promise<HttpAnswer>
  /** The whole flow. Returns the token response. */
  signIn(
    client: TestClient,
    who: Pick<SignedInUser, 'token'>,
    fields?: Fields,
    // oxlint-disable-next-line typescript/no-explicit-any -- tests read arbitrary fields
  ): Promise<any>
}

/** Opens a server that issues tokens to OAuth clients. Returns undefined if PostgreSQL is missing. */
export async function openAuthorizationServer(
  t: TestContext,
  env: Fields = {},
  options: Parameters<typeof openFlowServer>[2] = {},
): Promise<AuthorizationServer | undefined> {
  const port = await findFreePort()
  const environment = {
    ...factorEnvironment,
    AUTH_API_PORT: `${port}`,
    AUTH_API_EXTERNAL_URL: `http://127.0.0.1:${port}`,
    AUTH_OAUTH_SERVER_ENABLED: 'true',
    AUTH_OAUTH_SERVER_AUTHORIZATION_PATH: '/consent',
    AUTH_OAUTH_SERVER_SCOPES: 'notes:read,notes:write',
    AUTH_JWT_KEYS: signingKeys,
    AUTH_JWT_AUD: 'authenticated',
    ...env,
  }
  const server = await openFlowServer(t, environment, options)
  if (!server) return undefined
  const { url, serviceToken } = server

  const newClient = async (body: object = {}): Promise<TestClient> => {
    const { status, body: client } = await send(url, '/admin/oauth/clients', {
      token: serviceToken,
      body: { redirect_uris: [callback], client_name: 'Notes', ...body },
    })
    if (status !== 201) throw new Error(JSON.stringify(client))
    return client
  }
  const start = async (client: TestClient, fields: Fields = {}): Promise<StartedRequest> => {
    const verifier = randomBytes(32).toString('base64url')
    const query = new URLSearchParams({
      client_id: client.client_id,
      redirect_uri: callback,
      response_type: 'code',
      state: 'the state',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      ...fields,
    })
    const answer = await send(url, `/oauth/authorize?${query}`)
    return { answer, id: queryOf(answer)['authorization_id'] ?? '', verifier }
  }
  const details: AuthorizationServer['details'] = ({ token }, id) =>
    send(url, `/oauth/authorizations/${id}`, { token })
  const decide: AuthorizationServer['decide'] = ({ token }, id, action) =>
    send(url, `/oauth/authorizations/${id}/consent`, { token, body: { action } })
  const approve: AuthorizationServer['approve'] = async (client, who, fields) => {
    const started = await start(client, fields)
    const opened = await details(who, started.id)
    const decided = opened.body.redirect_url ? opened : await decide(who, started.id, 'approve')
    if (decided.status !== 200) throw new Error(JSON.stringify(decided.body))
    return {
      ...started,
      returned: Object.fromEntries(new URL(decided.body.redirect_url).searchParams),
    }
  }
  const ask: AuthorizationServer['ask'] = (client, path, fields) => {
    const { client_id: id, client_secret: secret } = client
    const basic = Buffer.from(`${id}:${secret}`).toString('base64')
    return send(url, path, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...(secret !== undefined && { authorization: `Basic ${basic}` }),
      },
      body: `${new URLSearchParams({ ...(secret === undefined && { client_id: id }), ...fields })}`,
    })
  }
  return {
    ...server,
    clock: server.clock,
    users: createFactorCalls(server),
    environment: { ...environment, AUTH_API_PORT: '0' },
    newClient,
    start,
    details,
    decide,
    approve,
    ask,
    async signIn(client, who, fields = {}) {
      const { returned, verifier } = await approve(client, who, fields)
      const { status, body } = await ask(client, '/oauth/token', toExchange(returned, verifier))
      if (status !== 200) throw new Error(JSON.stringify(body))
      return body
    },
  }
}

export function toExchange({ code = '' }: Fields, verifier: string): Fields {
  return { grant_type: 'authorization_code', code, code_verifier: verifier }
}

/** The parameters of a redirect. */
export function queryOf({ headers }: HttpAnswer): Fields {
  const location = headers.get('location')
  return location === null ? {} : Object.fromEntries(new URL(location).searchParams)
}
