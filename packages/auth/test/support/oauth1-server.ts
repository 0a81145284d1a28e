import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { toMessage } from '@portcullis/service-kit/text/reason'
import { signOAuth1 } from '../../src/plugins/providers/oauth/oauth1.ts'
import type { OAuthServer, OAuthServerOptions } from './oauth-server.ts'
import type { Account, ProviderShape } from './provider-shape.ts'

interface Requested {
  readonly secret: string
  /** The callback URL including the state. */
  readonly callback: string
  verifier: string
  account: Account
}

/**
 * An OAuth 1.0a provider that validates every request. Its form responses have the content type
 * HTML.
 */
export async function openOAuth1Server(
  t: TestContext,
  shape: ProviderShape,
  { redirectUri = 'https://auth.example/callback' }: OAuthServerOptions = {},
): Promise<OAuthServer> {
  const clientId = `client of ${shape.id}`
  const secret = `secret:${randomUUID()}+/&`
  const requested = new Map<string, Requested>()
  const granted = new Map<string, { readonly secret: string; readonly account: Account }>()
  const nonces = new Set<string>()
  const refusals: string[] = []

  const http = createServer((request, response) => {
    try {
      answer(request, response)
    } catch (error) {
      refusals.push(toMessage(error))
      response.writeHead(401).end()
    }
  }).listen(0, '127.0.0.1')
  await once(http, 'listening')
  t.after(() => {
    http.close()
    http.closeAllConnections()
  })
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`

  function answer(request: IncomingMessage, response: ServerResponse) {
    const target = new URL(request.url ?? '/', url)
    const path = target.pathname
    if (path === shape.authorizePath) return authorize(target, response)
    const isToken = path === shape.requestTokenPath || path === shape.tokenPath
    if (server.failure === 'no response') return
    if (isToken && server.failure === 'oversized response') {
      return send(response, 200, 'x'.repeat(2_000_000))
    }
    if (path === shape.tokenPath && server.failure === 'token endpoint fails') {
      return send(response, 500, '')
    }
    const parameters = readHeader(request)
    const { oauth_token: token = '' } = parameters
    const known = path === shape.tokenPath ? requested.get(token) : granted.get(token)
    if (token !== '' && known === undefined) throw new Error('unknown token')
    check(request, target, parameters, known?.secret ?? '')
    if (path === shape.requestTokenPath) return giveRequestToken(parameters, response)
    if (path === shape.tokenPath) return giveToken(token, parameters, response)
    if (server.failure === 'API fails') return send(response, 503, '')
    const account = granted.get(token)?.account
    const handler = shape.api[path]
    if (account === undefined || handler === undefined) throw new Error(`no ${path} for ${token}`)
    const { headers } = request
    const body = handler(account, { url: target, headers, accessToken: token, secret })
    send(response, 200, JSON.stringify(body), 'application/json')
  }

  function check(request: IncomingMessage, target: URL, all: Texts, tokenSecret: string): void {
    const { oauth_signature: signature, ...parameters } = all
    const method = request.method === 'POST' ? 'POST' : 'GET'
    const expected = signOAuth1(
      { method, url: target.href, parameters },
      { client: secret, token: tokenSecret },
    )
    if (signature !== expected) throw new Error(`wrong signature of ${target.pathname}`)
    const { oauth_nonce: nonce = '', oauth_timestamp: timestamp = '' } = parameters
    if (parameters['oauth_consumer_key'] !== clientId) throw new Error('unknown client')
    if (parameters['oauth_signature_method'] !== 'HMAC-SHA1') throw new Error('unknown method')
    if (parameters['oauth_version'] !== '1.0') throw new Error('unknown version')
    if (nonce === '' || nonces.has(nonce)) throw new Error('used nonce')
    nonces.add(nonce)
    if (Math.abs(Number(timestamp) - Date.now() / 1_000) > 300) throw new Error('wrong time')
  }

  function giveRequestToken({ oauth_callback: callback = '' }: Texts, response: ServerResponse) {
    const { origin, pathname } = new URL(callback)
    if (`${origin}${pathname}` !== redirectUri) throw new Error(`unknown callback ${callback}`)
    const token = `request ${randomUUID()}`
    const given = { secret: `hidden ${randomUUID()}`, callback, verifier: '', account: {} }
    requested.set(token, given)
    sendForm(response, {
      oauth_token: token,
      oauth_token_secret: given.secret,
      oauth_callback_confirmed: 'true',
    })
  }

  function authorize({ searchParams: query }: URL, response: ServerResponse) {
    const token = query.get('oauth_token') ?? ''
    const given = requested.get(token)
    if (given === undefined) throw new Error('unknown request token')
    const back = new URL(given.callback)
    if (server.failure === 'deny') {
      requested.delete(token)
      back.searchParams.set('denied', token)
    } else {
      given.verifier = randomUUID()
      given.account = server.account
      back.searchParams.set('oauth_token', token)
      back.searchParams.set('oauth_verifier', given.verifier)
    }
    response.writeHead(302, { location: back.href }).end()
  }

  function giveToken(token: string, { oauth_verifier: verifier }: Texts, response: ServerResponse) {
    const given = requested.get(token)
    // A verifier can be used once, even if the request fails.
    requested.delete(token)
    if (given === undefined || given.verifier === '' || given.verifier !== verifier) {
      throw new Error(`verifier ${verifier}`)
    }
    const accessToken = `access ${randomUUID()}`
    const hidden = `hidden ${randomUUID()}`
    granted.set(accessToken, { secret: hidden, account: given.account })
    sendForm(response, {
      oauth_token: accessToken,
      oauth_token_secret: hidden,
      user_id: `${given.account['id_str']}`,
      screen_name: `${given.account['screen_name']}`,
    })
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
    keyRequests: 0,
    createIdToken: () => Promise.reject(new Error('OAuth 1.0a has no ID tokens')),
    async agree(authorizeUrl) {
      const response = await fetch(authorizeUrl, { redirect: 'manual' })
      await response.text()
      const location = response.headers.get('location')
      if (location !== null) return { url: location }
      throw new Error(`${shape.id} refused ${authorizeUrl}: ${refusals.at(-1)}`)
    },
  }
  return server
}

type Texts = Readonly<Record<string, string>>

function readHeader({ headers }: IncomingMessage): Texts {
  const [, list] = /^OAuth (.+)$/.exec(headers.authorization ?? '') ?? []
  if (list === undefined) throw new Error('unsigned')
  const pairs = [...list.matchAll(/(\w+)="([^"]*)"/g)]
  return Object.fromEntries(pairs.map(([, name, value = '']) => [name, decodeURIComponent(value)]))
}

function sendForm(response: ServerResponse, fields: Texts): void {
  send(response, 200, `${new URLSearchParams(fields)}`)
}

function send(response: ServerResponse, status: number, body: string, type = 'text/html'): void {
  response.writeHead(status, { 'content-type': `${type}; charset=utf-8` }).end(body)
}
