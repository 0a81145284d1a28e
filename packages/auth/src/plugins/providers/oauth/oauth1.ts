import { createHmac, randomUUID } from 'node:crypto'
import { OutgoingError } from '../../../outgoing/http-client.ts'
import { isStorableText } from '../../../stored-json.ts'
import type { ExternalProfile } from './external-profile.ts'
import type {
  Addresses,
  ExternalTokens,
  ProviderDefinition,
  ProviderSetup,
  ProviderSteps,
} from './provider.ts'
import type { JsonObject } from './provider-http.ts'

/** Defines a provider that uses OAuth 1.0a (RFC 5849). */
export interface OAuth1Definition extends Omit<ProviderDefinition, 'create'> {
  requestTokenUrl(at: Addresses): string
  authorizeUrl(at: Addresses): string
  accessTokenUrl(at: Addresses): string
  /** @param get calls the API as the user. */
  readProfile(at: Addresses, get: (url: string) => Promise<JsonObject>): Promise<ExternalProfile>
}

interface Token {
  readonly token: string
  readonly secret: string
}

/** For requests before a token has been issued. */
const noToken: Token = { token: '', secret: '' }

/** OAuth 1.0a has no scopes: the permissions of an application are part of its registration. */
export function defineOAuth1(definition: OAuth1Definition): ProviderDefinition {
  return { ...definition, create: (setup) => createSteps(definition, setup) }
}

function createSteps(definition: OAuth1Definition, setup: ProviderSetup): ProviderSteps {
  const { at } = setup
  return {
    returnsByForm: false,
    idTokens: undefined,

    async start({ state, parameters }) {
      // OAuth 1.0a has no state parameter, so the state is part of the callback URL.
      const back = new URL(setup.redirectUri)
      back.searchParams.set('state', state)
      const request = sign(setup, 'POST', definition.requestTokenUrl(at), noToken, {
        oauth_callback: back.href,
      })
      const response = await requestToken(setup, request)
      // Without this confirmation the provider uses OAuth 1.0, which allows session fixation.
      if (response.get('oauth_callback_confirmed') !== 'true') {
        throw new OutgoingError(`${setup.id} did not confirm the callback URL`)
      }
      const { token, secret } = toToken(setup, response)
      const query = new URLSearchParams({ ...parameters, oauth_token: token })
      return { url: `${definition.authorizeUrl(at)}?${query}`, memo: { token, secret } }
    },

    async exchange({ parameters, memo }) {
      const { oauth_token: token, oauth_verifier: verifier = '' } = parameters
      if (token !== memo['token'] || typeof token !== 'string') {
        throw new OutgoingError(`${setup.id} returned a different request token`)
      }
      const requested = { token, secret: `${memo['secret']}` }
      const request = sign(setup, 'POST', definition.accessTokenUrl(at), requested, {
        oauth_verifier: verifier,
      })
      const response = await requestToken(setup, request)
      return toTokens(toToken(setup, response), response)
    },

    readProfile(tokens) {
      const { accessToken, response } = tokens
      const token = { token: accessToken, secret: `${response['oauth_token_secret']}` }
      return definition.readProfile(at, (target) => {
        const { url, authorization } = sign(setup, 'GET', target, token)
        return setup.http.fetchObject(url, { headers: { authorization } })
      })
    },
  }
}

interface SignedRequest {
  readonly url: string
  readonly authorization: string
}

function sign(
  { clientIds, secret }: ProviderSetup,
  method: OAuth1Request['method'],
  url: string,
  token: Token,
  more: Readonly<Record<string, string>> = {},
): SignedRequest {
  const parameters = {
    oauth_consumer_key: clientIds[0],
    oauth_nonce: randomUUID(),
    oauth_signature_method: 'HMAC-SHA1',
    oauth_timestamp: `${Math.floor(Date.now() / 1_000)}`,
    oauth_version: '1.0',
    ...(token.token !== '' && { oauth_token: token.token }),
    ...more,
  }
  const secrets = { client: secret, token: token.secret }
  return { url, authorization: toOAuth1Header({ method, url, parameters }, secrets) }
}

/** The response is form-encoded, whatever its content type says. */
async function requestToken(
  { http }: ProviderSetup,
  { url, authorization }: SignedRequest,
): Promise<URLSearchParams> {
  const response = await http.fetch(url, { method: 'POST', headers: { authorization } })
  const text = await response.text()
  if (response.ok) return new URLSearchParams(text)
  const { host, pathname } = new URL(url)
  const { status } = response
  throw new OutgoingError(`${host}${pathname} responded with ${status}`, { status })
}

function toToken({ id }: ProviderSetup, response: URLSearchParams): Token {
  const token = response.get('oauth_token') ?? ''
  const secret = response.get('oauth_token_secret') ?? ''
  const isFine = [token, secret].every((text) => text !== '' && isStorableText(text))
  if (!isFine) throw new OutgoingError(`${id} returned no token`)
  return { token, secret }
}

function toTokens({ token }: Token, response: URLSearchParams): ExternalTokens {
  return {
    accessToken: token,
    refreshToken: undefined,
    idToken: undefined,
    response: Object.fromEntries(response),
  }
}

/**
 * The signed parts of a request (RFC 5849, section 3.4). HMAC-SHA1 is the method that all providers
 * support.
 */
export interface OAuth1Request {
  readonly method: 'GET' | 'POST'
  readonly url: string
  /** The parameters of the Authorization header: `oauth_consumer_key`, … */
  readonly parameters: Readonly<Record<string, string>>
}

export interface OAuth1Secrets {
  readonly client: string
  /** The secret of the token in use; empty before a token has been issued. */
  readonly token: string
}

export function signOAuth1(request: OAuth1Request, secrets: OAuth1Secrets): string {
  const { origin, pathname, searchParams } = new URL(request.url)
  const parameters = [...searchParams, ...Object.entries(request.parameters)]
    .map(([name, value]) => [encode(name), encode(value)] as const)
    .toSorted((one, other) => compare(one[0], other[0]) || compare(one[1], other[1]))
    .map((pair) => pair.join('='))
    .join('&')
  const text = [request.method, `${origin}${pathname}`, parameters].map(encode).join('&')
  const key = [secrets.client, secrets.token].map(encode).join('&')
  return createHmac('sha1', key).update(text).digest('base64')
}

export function toOAuth1Header(request: OAuth1Request, secrets: OAuth1Secrets): string {
  const all = { ...request.parameters, oauth_signature: signOAuth1(request, secrets) }
  const parts = Object.entries(all).map(([name, value]) => `${encode(name)}="${encode(value)}"`)
  return `OAuth ${parts.join(', ')}`
}

/** Compares by code units, as the RFC requires, and not by the rules of a language. */
function compare(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

/** RFC 5849 requires escaping more characters than `encodeURIComponent` does. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
