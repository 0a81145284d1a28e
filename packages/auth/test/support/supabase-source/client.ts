import assert from 'node:assert/strict'
import { createApp } from '../factors.ts'
import { createFrozenClock, type FrozenClock } from '../frozen-clock.ts'
import { type HttpAnswer, sdk, send } from '../http-client.ts'
import type { OAuthServer } from '../oauth-server.ts'
import type { SoftwareAuthenticator } from '../software-authenticator.ts'

export interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
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
      const { headers, body } = await send(url, `${pathname}${search}`, { headers: { cookie } })
      const fragment = new URLSearchParams(headers.get('location')?.split('#')[1])
      const { access_token, refresh_token } = Object.fromEntries(fragment)
      assert.ok(access_token && refresh_token, `${headers.get('location')} ${JSON.stringify(body)}`)
      return { access_token, refresh_token }
    },
    async signInWithPasskey(holder: SoftwareAuthenticator) {
      const { challenge_id, options } = succeed(await call('/passkeys/authentication/options', {}))
      const credential = holder.get(options)
      return succeed(await call('/passkeys/authentication/verify', { challenge_id, credential }))
    },
  }
}
