import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { createApp } from '../factors.ts'
import { createFrozenClock, type FrozenClock } from '../frozen-clock.ts'
import { type HttpAnswer, sdk, send } from '../http-client.ts'
import type { OAuthServer } from '../oauth-server.ts'
import { readRequest, type TestIdentityProvider } from '../saml/identity-provider.ts'
import type { SoftwareAuthenticator } from '../software-authenticator.ts'

export interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
}

export interface OAuthClient {
  readonly client_id: string
  readonly client_secret: string
}

/** The first redirect URI of the OAuth clients. */
export const clientCallback = 'https://notes.example.com/back'

/** The tokens in a redirect of the implicit flow. */
function readRedirect({ headers, body }: HttpAnswer): Tokens {
  const fragment = new URLSearchParams(headers.get('location')?.split('#')[1])
  const { access_token, refresh_token } = Object.fromEntries(fragment)
  assert.ok(access_token && refresh_token, `${headers.get('location')} ${JSON.stringify(body)}`)
  return { access_token, refresh_token }
}

/**
 * The calls of a client, which are the same for Supabase Auth and this server.
 * @param clock default: the time of the machine, which the peer uses.
 */
export function toClient(url: string, serviceToken: string, clock?: FrozenClock) {
  const call = (path: string, body: unknown, token?: string) =>
    send(url, path, { body, headers: sdk, ...(token !== undefined && { token }) })
  const succeed = ({ status, body }: HttpAnswer) => {
    assert.ok(status < 300, `${status} ${JSON.stringify(body)}`)
    return body
  }
  return {
    call,
    signUp: async (body: object) => succeed(await call('/signup', body)),
    signIn: (body: object) => call('/token?grant_type=password', body),
    refresh: (refresh_token: string) => call('/token?grant_type=refresh_token', { refresh_token }),
    admin: async (method: string, path: string, body?: object) =>
      succeed(
        await send(url, `/admin${path}`, {
          method,
          token: serviceToken,
          headers: sdk,
          ...(body && { body }),
        }),
      ),
    /** Returns the tokens of a session at aal2. */
    async verifyTotp(token: string, factorId: string, secret: string): Promise<Tokens> {
      const { id } = succeed(await call(`/factors/${factorId}/challenge`, {}, token))
      const code = createApp(secret, clock ?? createFrozenClock()).nextCode()
      const sent = { challenge_id: id, code }
      return succeed(await call(`/factors/${factorId}/verify`, sent, token))
    },
    async enroll(token: string, body: object) {
      return succeed(await call('/factors', body, token))
    },
    async verifyKey(token: string, factorId: string, key: SoftwareAuthenticator): Promise<Tokens> {
      const { id, webauthn } = succeed(await call(`/factors/${factorId}/challenge`, {}, token))
      const { publicKey } = webauthn.credential_options
      const { type } = webauthn
      const credential_response = type === 'create' ? key.create(publicKey) : key.get(publicKey)
      const sent = { challenge_id: id, webauthn: { type, credential_response } }
      return succeed(await call(`/factors/${factorId}/verify`, sent, token))
    },
    async addPasskey(token: string, holder: SoftwareAuthenticator) {
      const { challenge_id, options } = succeed(
        await call('/passkeys/registration/options', {}, token),
      )
      const credential = holder.create(options)
      succeed(await call('/passkeys/registration/verify', { challenge_id, credential }, token))
    },
    /** Runs the redirects of a browser, and returns the tokens in the last one. */
    async signInWithProvider(provider: OAuthServer): Promise<Tokens> {
      const started = await send(url, `/authorize?provider=${provider.shape.id}`)
      const agreed = await provider.agree(started.headers.get('location') ?? '')
      const cookie = (started.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
      const { pathname, search } = new URL(agreed.url)
      return readRedirect(await send(url, `${pathname}${search}`, { headers: { cookie } }))
    },
    /** Signs the user `ada` of a company in. */
    async signInWithSaml(provider_id: string, idp: TestIdentityProvider): Promise<Tokens> {
      const started = succeed(await call('/sso', { provider_id, skip_http_redirect: true }))
      const { id: requestId, relayState } = readRequest(started.url)
      const response = idp.createResponse({
        requestId,
        nowMs: clock?.now() ?? Date.now(),
        nameId: 'ada',
        attributes: { email: ['ada@company.example'] },
      })
      const form = {
        SAMLResponse: Buffer.from(response).toString('base64'),
        RelayState: relayState,
      }
      return readRedirect(
        await send(url, '/sso/saml/acs', {
          body: `${new URLSearchParams(form)}`,
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        }),
      )
    },
    /** Opens a request of an OAuth client for its callback and the scope `email`. */
    async requestGrant(client: OAuthClient, token: string) {
      const verifier = randomBytes(32).toString('base64url')
      const query = new URLSearchParams({
        client_id: client.client_id,
        redirect_uri: clientCallback,
        response_type: 'code',
        scope: 'email',
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
      })
      const { headers } = await send(url, `/oauth/authorize?${query}`)
      const { searchParams } = new URL(headers.get('location') ?? '')
      const path = `/oauth/authorizations/${searchParams.get('authorization_id')}`
      const opened = succeed(await send(url, path, { token, headers: sdk }))
      return { path, verifier, redirectUrl: opened.redirect_url as string | undefined }
    },
    /** The whole flow of an OAuth client, in which the user agrees. */
    async grant(client: OAuthClient, token: string): Promise<Tokens> {
      const { path, verifier } = await this.requestGrant(client, token)
      const { redirect_url } = succeed(await call(`${path}/consent`, { action: 'approve' }, token))
      const code = new URL(redirect_url).searchParams.get('code') ?? ''
      const exchange = { grant_type: 'authorization_code', code, code_verifier: verifier }
      return succeed(await this.askToken(client, { ...exchange, redirect_uri: clientCallback }))
    },
    askToken: ({ client_id, client_secret }: OAuthClient, form: Readonly<Record<string, string>>) =>
      send(url, '/oauth/token', {
        body: `${new URLSearchParams({ ...form, client_id, client_secret })}`,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
    async signInWithPasskey(holder: SoftwareAuthenticator) {
      const { challenge_id, options } = succeed(await call('/passkeys/authentication/options', {}))
      const credential = holder.get(options)
      return succeed(await call('/passkeys/authentication/verify', { challenge_id, credential }))
    },
  }
}
