import type * as Jose from 'jose'
import {
  type IdTokenClaims,
  IdTokenError,
  type IdTokenExpectation,
  type OpenId,
} from './provider.ts'
import type { ProviderHttp } from './provider-http.ts'

export interface OpenIdSettings {
  readonly http: ProviderHttp
  readonly now: () => number
}

const cachedMs = 3_600_000
const mostIssuers = 200
/** Only asymmetric algorithms, because the client secret is known not only to the issuer. */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]

type KeySet = ReturnType<typeof Jose.createRemoteJWKSet>

/** Loaded with the first ID token, because loading it takes a tenth of the start of a server. */
const loadJose = () => import('jose')

export function createOpenId({ http, now }: OpenIdSettings): OpenId {
  const known = new Map<string, { readonly keys: Promise<KeySet>; readonly untilMs: number }>()

  async function discover(url: string, isIssuer: IdTokenExpectation['isIssuer']): Promise<KeySet> {
    const configuration = await http.fetchObject(`${url}/.well-known/openid-configuration`)
    const { issuer, jwks_uri: keysUrl } = configuration
    if (typeof issuer !== 'string' || !isIssuer(issuer)) {
      throw new IdTokenError(`${url} names a different issuer`)
    }
    if (typeof keysUrl !== 'string' || !/^https?:/.test(keysUrl)) {
      throw new IdTokenError(`${url} has no valid jwks_uri`)
    }
    return createKeySet(keysUrl)
  }

  async function createKeySet(keysUrl: string): Promise<KeySet> {
    const jose = await loadJose()
    return jose.createRemoteJWKSet(new URL(keysUrl), {
      cacheMaxAge: cachedMs,
      [jose.customFetch]: (target, { method, headers }) => http.fetch(target, { method, headers }),
    })
  }

  function findKeys({ keysUrl, discoveryUrl, isIssuer }: IdTokenExpectation): Promise<KeySet> {
    const place = keysUrl ?? discoveryUrl
    const before = known.get(place)
    if (before && before.untilMs > now()) return before.keys
    const keys = keysUrl === undefined ? discover(discoveryUrl, isIssuer) : createKeySet(keysUrl)
    // Limits the memory that a multi-tenant issuer can use.
    if (known.size >= mostIssuers) known.clear()
    known.set(place, { keys, untilMs: now() + cachedMs })
    // A failed discovery is tried again.
    keys.catch(() => known.delete(place))
    return keys
  }

  return {
    async verify(idToken, expected) {
      const { errors, jwtVerify } = await loadJose()
      const keys = await findKeys(expected)
      const { payload } = await jwtVerify(idToken, keys, {
        algorithms,
        currentDate: new Date(now()),
        requiredClaims: ['exp', 'iss', 'aud'],
      }).catch((error: unknown) => {
        throw isFault(error, errors) ? new IdTokenError('Bad ID token', { cause: error }) : error
      })
      const { sub } = payload
      const { iss, aud }: IdTokenClaims = payload
      if (typeof iss !== 'string' || !expected.isIssuer(iss)) throw new IdTokenError('Bad ID token')
      const audiences = [aud].flat().filter((audience) => typeof audience === 'string')
      if (!audiences.some((audience) => expected.audiences.includes(audience))) {
        throw new IdTokenError(`Unacceptable audience in id_token: [${audiences.join(' ')}]`)
      }
      if (sub === undefined || sub === '') throw new IdTokenError('Missing sub claim in id_token')
      const { email_verified: isVerified } = payload
      if (typeof isVerified === 'object' && isVerified !== null) {
        throw new IdTokenError('Bad ID token: email_verified must be a boolean')
      }
      return payload
    },
  }
}

/** Whether the token is invalid; otherwise the keys could not be fetched. */
function isFault(error: unknown, errors: typeof Jose.errors): boolean {
  return error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout)
}
