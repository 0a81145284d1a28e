import { createHash, randomBytes } from 'node:crypto'
import { OutgoingError } from '../../../outgoing/http-client.ts'
import { isStorableText } from '../../../stored-json.ts'
import type { ExternalProfile } from './external-profile.ts'
import {
  type Addresses,
  type ExternalIdTokens,
  type ExternalReturn,
  type ExternalTokens,
  type IdTokenClaims,
  IdTokenError,
  type ProviderDefinition,
  type ProviderSetup,
  type ProviderSteps,
} from './provider.ts'
import type { JsonObject } from './provider-http.ts'

/** Defines a provider that uses OAuth 2.0. */
export interface OAuth2Definition extends Omit<ProviderDefinition, 'create'> {
  authorizeUrl(at: Addresses): string
  tokenUrl(at: Addresses): string
  /** Always requested. The scopes of the client's request are added. */
  readonly scopes: readonly string[]
  /** Whether the scopes of the client's request are ignored. */
  readonly hasFixedScopes?: boolean
  /** Additional parameters of the authorization URL. */
  readonly parameters?: Readonly<Record<string, string>>
  /** Parameters of the client's request that have another name at the provider. */
  readonly renamed?: Readonly<Record<string, string>>
  /**
   * How the client authenticates to the token endpoint: in the Authorization header, as RFC 6749
   * prefers, or in the body. When omitted, the header is tried first, and the body if that is
   * refused.
   */
  readonly credentials?: 'basic' | 'body'
  /** Whether the provider supports PKCE, which makes an intercepted code useless. */
  readonly usesPkce?: boolean
  /** Whether ID tokens must contain a nonce of the flow (OpenID Connect Core, section 3.1.2.1). */
  readonly usesNonce?: boolean
  /** Whether the provider sends `iss` with every code (RFC 9207), so that a code without it is refused. */
  readonly sendsIssuer?: boolean
  /** Whether the provider returns to the callback with a POST request. */
  readonly returnsByForm?: boolean
  readonly idTokens?: IdTokenDefinition
  readProfile(context: ProfileContext): Promise<ExternalProfile>
}

export interface IdTokenDefinition {
  isIssuer(issuer: string, at: Addresses): boolean
  /** The URL to which `/.well-known/openid-configuration` is appended. Default: the issuer. */
  discoveryUrl?(issuer: string, at: Addresses): string
  /** The URL of the keys, if it is known without discovery. */
  readonly keysUrl?: string
  /** Whether the provider's SDKs create nonces that cannot be checked. */
  readonly skipsNonce?: boolean
  toProfile(claims: IdTokenClaims, at: Addresses): ExternalProfile
}

export interface ProfileContext {
  readonly setup: ProviderSetup
  readonly tokens: ExternalTokens
  /** The request to the callback URL. */
  readonly back: ExternalReturn
  /** Calls the API with the access token. */
  get(url: string, headers?: Readonly<Record<string, string>>): Promise<JsonObject>
  getList(url: string): Promise<readonly JsonObject[]>
  /** Verifies the ID token that came with the access token; undefined without one. */
  verifyIdToken(): Promise<IdTokenClaims | undefined>
  /** Reads the profile from the ID token that came with the access token; undefined without one. */
  readIdToken(): Promise<ExternalProfile | undefined>
}

export function defineOAuth2(definition: OAuth2Definition): ProviderDefinition {
  return { ...definition, create: (setup) => createSteps(definition, setup) }
}

function createSteps(definition: OAuth2Definition, setup: ProviderSetup): ProviderSteps {
  const { at, http } = setup
  const { returnsByForm = false } = definition
  const idTokens = definition.idTokens && createIdTokens(definition.idTokens, setup)
  return {
    returnsByForm,
    idTokens,

    async start({ state, scopes, parameters }) {
      const verifier = randomBytes(32).toString('base64url')
      const own = definition.hasFixedScopes ? [] : scopes
      const nonce = parameters['nonce'] ?? randomBytes(16).toString('base64url')
      const query = new URLSearchParams({
        ...rename(parameters, definition.renamed),
        ...definition.parameters,
        ...(definition.usesNonce && { nonce }),
        client_id: setup.clientIds[0],
        redirect_uri: setup.redirectUri,
        response_type: 'code',
        scope: [...new Set([...definition.scopes, ...own])].join(' '),
        state,
        ...(definition.usesPkce && {
          code_challenge: createHash('sha256').update(verifier).digest('base64url'),
          code_challenge_method: 'S256',
        }),
      })
      if (query.get('scope') === '') query.delete('scope')
      const memo = {
        ...(definition.usesPkce && { verifier }),
        ...(definition.usesNonce && { nonce }),
      }
      const url = definition.authorizeUrl(at)
      // The URL may already have a query (RFC 6749, section 3.1).
      return { url: `${url}${url.includes('?') ? '&' : '?'}${query}`, memo }
    },

    async exchange({ parameters, memo }) {
      // RFC 9207: `iss` names the issuer of the code, if the provider sends it.
      const { code = '', iss } = parameters
      const isMissing = iss === undefined && (definition.sendsIssuer ?? false)
      if (isMissing || (iss !== undefined && idTokens !== undefined && !idTokens.isIssuer(iss))) {
        throw new OutgoingError(`The code was not issued by ${setup.id}`)
      }
      const { verifier } = memo
      const response = await requestTokens(definition, setup, {
        grant_type: 'authorization_code',
        code,
        redirect_uri: setup.redirectUri,
        ...(typeof verifier === 'string' && { code_verifier: verifier }),
      })
      return toTokens(response, setup.id)
    },

    readProfile(tokens, back) {
      const authorization = { authorization: `Bearer ${tokens.accessToken}` }
      const verifyIdToken = async () => {
        if (idTokens === undefined || tokens.idToken === undefined) return undefined
        const claims = await idTokens.verify(tokens.idToken)
        if (definition.usesNonce && claims['nonce'] !== back.memo['nonce']) {
          throw new IdTokenError('The ID token has the nonce of another flow')
        }
        return claims
      }
      return definition.readProfile({
        setup,
        tokens,
        back,
        get: (target, headers) =>
          http.fetchObject(target, { headers: { ...authorization, ...headers } }),
        getList: (target) => http.fetchList(target, { headers: authorization }),
        verifyIdToken,
        async readIdToken() {
          const claims = await verifyIdToken()
          return claims && idTokens?.toProfile(claims)
        },
      })
    },
  }
}

function rename(
  parameters: Readonly<Record<string, string>>,
  names: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const entries = Object.entries(parameters)
  return Object.fromEntries(entries.map(([name, value]) => [names[name] ?? name, value]))
}

function createIdTokens(definition: IdTokenDefinition, setup: ProviderSetup): ExternalIdTokens {
  const { at, openId, clientIds } = setup
  const { discoveryUrl = (issuer: string) => issuer } = definition
  const isIssuer = (issuer: string) => definition.isIssuer(issuer, at)
  return {
    isIssuer,
    skipsNonce: definition.skipsNonce ?? false,
    async verify(idToken) {
      const issuer = readIssuer(idToken)
      // An unverified token must not choose the URL that the server fetches.
      if (!isIssuer(issuer)) throw new IdTokenError('Bad ID token')
      return openId.verify(idToken, {
        discoveryUrl: discoveryUrl(issuer, at),
        keysUrl: definition.keysUrl,
        isIssuer,
        audiences: clientIds,
      })
    },
    toProfile: (claims) => definition.toProfile(claims, at),
  }
}

/** Reads the issuer before the token is verified; empty when there is none. */
function readIssuer(idToken: string): string {
  try {
    const claims = JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString())
    return typeof claims?.iss === 'string' ? claims.iss : ''
  } catch {
    return ''
  }
}

/** Whether the other way of client authentication should be tried after this error. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof OutgoingError)) return false
  return error.status === 401 || error.code === 'invalid_client'
}

async function requestTokens(
  { credentials, tokenUrl }: OAuth2Definition,
  { at, http, clientIds, secret }: ProviderSetup,
  form: Readonly<Record<string, string>>,
): Promise<JsonObject> {
  const url = tokenUrl(at)
  const [clientId] = clientIds
  const inBody = () =>
    http.fetchObject(url, { form: { ...form, client_id: clientId, client_secret: secret } })
  if (credentials === 'body') return inBody()
  const basic = Buffer.from(`${toFormText(clientId)}:${toFormText(secret)}`).toString('base64')
  try {
    return await http.fetchObject(url, { form, headers: { authorization: `Basic ${basic}` } })
  } catch (error) {
    if (credentials === 'basic' || !isRefusal(error)) throw error
    return inBody()
  }
}

/** RFC 6749, section 2.3.1: both values are form-encoded before they are joined. */
function toFormText(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1)
}

/** Some providers respond with status 200 and an error in the body. */
function toTokens(response: JsonObject, id: string): ExternalTokens {
  const { access_token: accessToken, refresh_token: refreshToken, id_token: idToken } = response
  if (!isToken(accessToken)) {
    const { error } = response
    const reason = typeof error === 'string' ? `: ${error.slice(0, 100)}` : ''
    throw new OutgoingError(`${id} returned no access token${reason}`)
  }
  return {
    accessToken,
    refreshToken: isToken(refreshToken) ? refreshToken : undefined,
    idToken: isToken(idToken) ? idToken : undefined,
    response,
  }
}

function isToken(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && isStorableText(value)
}
