import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { toMessage } from '@portcullis/service-kit/text/reason'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import type { Account, ProviderShape } from './provider-shape.ts'

export interface OAuthServer {
  readonly shape: ProviderShape
  /** The value of `EXTERNAL_<PROVIDER>_URL`. */
  readonly url: string
  /** The environment that registers our server with this provider. */
  readonly env: Readonly<Record<string, string>>
  readonly clientId: string
  readonly secret: string
  /** The account that signs in from now on. */
  account: Account
  /** The failure to simulate from now on; undefined for none. */
  failure: Failure | undefined
  /** The fields of the discovery document that differ from now on. */
  discovery: Account
  /** The ID token in token responses from now on; undefined for a valid one. */
  idToken: ((nonce: string | null) => Promise<string> | string) | undefined
  /** Parameters that are returned with the code from now on. */
  returns: Readonly<Record<string, string>>
  /** The reasons of all refused requests. */
  readonly refusals: readonly string[]
  /** The number of requests for its keys. */
  readonly keyRequests: number
  /** An ID token like one from the SDK of the provider; claims that are undefined are omitted. */
  createIdToken(claims?: Account): Promise<string>
  /**
   * Opens the authorization page like a browser, agrees, and is sent back.
   * @returns the URL, and the form if it is posted instead of a redirect.
   */
  agree(authorizeUrl: string): Promise<ProviderResponse>
}

export interface ProviderResponse {
  readonly url: string
  readonly form?: Readonly<Record<string, string>>
}

/** `deny`: the user denies access. All others are failures of server-to-server requests. */
export type Failure =
  | 'deny'
  | 'token endpoint fails'
  | 'API fails'
  | 'oversized response'
  | 'no response'

export interface OAuthServerOptions {
  readonly redirectUri?: string
}

interface Grant {
  readonly account: Account
  readonly challenge: string | null
  readonly nonce: string | null
  readonly redirectUri: string
}

/** RFC 6749, section 4.1.2.1. */
export const denial = {
  error: 'access_denied',
  error_description: 'The user denied access',
} as const

/** A provider that validates every request, on its own port. */
export async function openOAuthServer(
  t: TestContext,
  shape: ProviderShape,
  { redirectUri = 'https://auth.example/callback' }: OAuthServerOptions = {},
): Promise<OAuthServer> {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }
  const clientId = `client of ${shape.id}`
  const secret = `secret:${randomUUID()}+/&`
  const grants = new Map<string, Grant>()
  const tokens = new Map<string, Account>()
  const refusals: string[] = []
  let keyRequests = 0

  const http = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      refusals.push(toMessage(error))
      response.writeHead(500).end()
    })
  }).listen(0, '127.0.0.1')
  await once(http, 'listening')
  t.after(() => {
    http.close()
    http.closeAllConnections()
  })
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const url = `${origin}${shape.basePath ?? ''}`
  const issuer = `${url}${shape.issuerPath ?? ''}`

  const refuse = (response: ServerResponse, status: number, error: string, why: string) => {
    refusals.push(why)
    const { tokenError = (code, reason) => ({ error: code, error_description: reason }) } = shape
    const body = { ...shape.refusalFields, ...tokenError(error, why) }
    send(response, shape.hidesRefusals ? 200 : status, body)
  }

  /** An error of the API, in its own format. */
  const refuseCall = (response: ServerResponse, status: number, error: string, why: string) => {
    if (shape.apiError === undefined) return refuse(response, status, error, why)
    refusals.push(why)
    const own = shape.apiError(status, why)
    send(response, own.status, own.body)
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = new URL(request.url ?? '/', origin)
    const path = target.pathname.slice((shape.basePath ?? '').length)
    const method = path === shape.tokenPath ? 'POST' : 'GET'
    if (request.method !== method) {
      return refuse(response, 405, 'invalid_request', `${request.method} ${path}`)
    }
    if (path === `${shape.issuerPath ?? ''}/.well-known/openid-configuration`) {
      return send(response, 200, {
        issuer,
        authorization_endpoint: `${url}${shape.authorizePath}`,
        token_endpoint: `${url}${shape.tokenPath}`,
        userinfo_endpoint: `${url}${Object.keys(shape.api)[0]}`,
        jwks_uri: `${url}/keys`,
        ...server.discovery,
      })
    }
    if (path === '/keys') {
      keyRequests++
      return send(response, 200, { keys: [jwk] })
    }
    if (path === shape.authorizePath) return authorize(target, response)
    if (path === shape.tokenPath) return giveTokens(request, response)
    return callApi(path, target, request, response)
  }

  function authorize({ searchParams: query }: URL, response: ServerResponse) {
    const flaw = findFlaw(query)
    if (flaw !== undefined) {
      // Like real providers, it does not redirect to an unregistered URL.
      refusals.push(flaw)
      return send(response, 400, { error: 'invalid_request', error_description: flaw })
    }
    const state = query.get('state') ?? ''
    const back: Record<string, string> = { state }
    if (server.failure === 'deny') {
      Object.assign(back, shape.denial ?? denial)
    } else {
      const code = randomUUID()
      grants.set(code, {
        account: server.account,
        challenge: query.get('code_challenge'),
        nonce: query.get('nonce'),
        redirectUri: query.get('redirect_uri') ?? '',
      })
      Object.assign(back, { code }, shape.returnsWith?.(server.account), server.returns)
    }
    if (shape.returnsBy === 'form post') {
      return send(response, 200, { action: redirectUri, form: back })
    }
    response.writeHead(302, { location: `${redirectUri}?${new URLSearchParams(back)}` }).end()
  }

  function findFlaw(query: URLSearchParams): string | undefined {
    const expected = { client_id: clientId, redirect_uri: redirectUri, response_type: 'code' }
    for (const [name, value] of Object.entries({ ...expected, ...shape.parameters })) {
      if (query.get(name) !== value) return `${name} is ${query.get(name)}`
    }
    const scopes = (query.get('scope') ?? '').split(' ').filter((scope) => scope !== '')
    if (shape.hasFixedScopes && scopes.length > shape.scopes.length) return 'too many scopes'
    const missing = shape.scopes.find((scope) => !scopes.includes(scope))
    if (missing !== undefined) return `the scope ${missing} is missing`
    if (!query.get('state')) return 'state is missing'
    if (query.has('client_secret')) return 'the secret is in the URL'
    const method = query.get('code_challenge_method')
    if (query.has('code_challenge') !== (method === 'S256')) return 'incomplete challenge'
    if (shape.requiresPkce && method === null) return 'code_challenge is missing'
    return undefined
  }

  async function giveTokens(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (server.failure === 'no response') return
    if (server.failure === 'oversized response') return void response.end('x'.repeat(2_000_000))
    if (server.failure === 'token endpoint fails') {
      return refuse(response, 500, 'server_error', 'simulated failure')
    }
    const form = new URLSearchParams(await readBody(request))
    const flaw = findCredentialFlaw(request, form)
    if (flaw !== undefined) return refuse(response, 401, 'invalid_client', flaw)
    if (form.get('grant_type') !== 'authorization_code') {
      return refuse(response, 400, 'unsupported_grant_type', `grant ${form.get('grant_type')}`)
    }
    const code = form.get('code') ?? ''
    const grant = grants.get(code)
    // A code can be used once, even if the request fails.
    grants.delete(code)
    if (grant === undefined) return refuse(response, 400, 'invalid_grant', 'unknown code')
    if (form.get('redirect_uri') !== grant.redirectUri) {
      return refuse(response, 400, 'invalid_grant', 'another redirect_uri')
    }
    const verifier = form.get('code_verifier')
    if (!fits(grant.challenge, verifier)) {
      return refuse(response, 400, 'invalid_grant', `code_verifier ${verifier}`)
    }
    const accessToken = `access ${randomUUID()}`
    tokens.set(accessToken, grant.account)
    const nonce = grant.nonce === null ? {} : { nonce: grant.nonce }
    const claims = shape.idToken?.(grant.account)
    const fields = {
      access_token: accessToken,
      refresh_token: `refresh ${randomUUID()}`,
      token_type: 'bearer',
      expires_in: 3_600,
      ...(claims && { id_token: await createIdToken({ ...claims, ...nonce }) }),
      ...(server.idToken && { id_token: await server.idToken(grant.nonce) }),
      ...shape.tokenFields?.(grant.account),
    }
    if (shape.tokenFormat !== 'form') return send(response, 200, fields)
    const texts = Object.entries(fields).map(([name, value]) => [name, `${value}`])
    response
      .writeHead(200, { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' })
      .end(`${new URLSearchParams(texts)}`)
  }

  function findCredentialFlaw(request: IncomingMessage, form: URLSearchParams) {
    const [, basic] = /^Basic (.+)$/.exec(request.headers.authorization ?? '') ?? []
    const isInBody = form.has('client_secret')
    if (basic !== undefined && isInBody) return 'credentials twice'
    if (shape.credentials === 'basic' && basic === undefined) return 'credentials in the body'
    if (shape.credentials === 'body' && !isInBody) return 'credentials not in the body'
    const shown =
      basic === undefined
        ? [form.get('client_id'), form.get('client_secret')]
        : Buffer.from(basic, 'base64')
            .toString()
            .split(':')
            .map((part) => new URLSearchParams(`v=${part}`).get('v'))
    return shown[0] === clientId && shown[1] === secret ? undefined : 'wrong credentials'
  }

  function callApi(path: string, target: URL, request: IncomingMessage, response: ServerResponse) {
    if (server.failure === 'API fails' && shape.apiError !== undefined) {
      const { status, body } = shape.apiError(503, 'overloaded')
      return send(response, status, body)
    }
    if (server.failure === 'API fails') {
      const status = shape.refusalFields === undefined ? 503 : 200
      return send(response, status, { ...shape.refusalFields, error: 'overloaded' })
    }
    const handler = shape.api[path]
    if (handler === undefined) return refuseCall(response, 404, 'not_found', `no ${path}`)
    const { headers } = request
    const accessToken = headers.authorization?.replace(/^Bearer /, '') ?? ''
    const account = tokens.get(accessToken)
    if (account === undefined) return refuseCall(response, 401, 'invalid_token', 'no such token')
    send(response, 200, handler(account, { url: target, headers, accessToken, secret }))
  }

  async function createIdToken(claims: Account = {}): Promise<string> {
    const now = Math.floor(Date.now() / 1_000)
    const own = shape.idToken?.(server.account) ?? {}
    const standard = { iss: issuer, aud: clientId, iat: now, exp: now + 3_600 }
    return new SignJWT({ ...standard, ...own, ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'one' })
      .sign(privateKey)
  }

  const prefix = `AUTH_EXTERNAL_${shape.id.toUpperCase()}`
  const server: OAuthServer = {
    shape,
    url,
    env: {
      [`${prefix}_ENABLED`]: 'true',
      [`${prefix}_CLIENT_ID`]: clientId,
      [`${prefix}_SECRET`]: secret,
      [`${prefix}_REDIRECT_URI`]: redirectUri,
      [`${prefix}_URL`]: url,
    },
    clientId,
    secret,
    account: shape.example.account,
    failure: undefined,
    discovery: {},
    idToken: undefined,
    returns: {},
    refusals,
    get keyRequests() {
      return keyRequests
    },
    createIdToken,
    async agree(authorizeUrl) {
      const response = await fetch(authorizeUrl, { redirect: 'manual' })
      if (response.status === 302) {
        await response.text()
        return { url: response.headers.get('location') ?? '' }
      }
      const page = await response.json()
      if (response.status === 200) return { url: page.action, form: page.form }
      throw new Error(`${shape.id} refused ${authorizeUrl}: ${page.error_description}`)
    },
  }
  return server
}

function fits(challenge: string | null, verifier: string | null): boolean {
  if (challenge === null || verifier === null) return challenge === verifier
  return createHash('sha256').update(verifier).digest('base64url') === challenge
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}
