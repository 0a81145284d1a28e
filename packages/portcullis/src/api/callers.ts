import {
  type AccessTokenClaims,
  AuthUnavailableError,
  TokenError,
  type Verifier,
} from '@portcullis/auth/verify'
import type { User } from './schema.ts'

/** How the API verifies API keys that it receives. */
export interface KeyOptions {
  /** The URL of the auth server. */
  readonly authUrl: string
  /** A token with the role `token_verifier`, or a function that returns one. */
  readonly token: string | (() => Promise<string>)
}

/** Who sent a request. */
export interface Caller {
  /** Undefined if the caller is not signed in. */
  readonly user?: User
  /** The API key of the caller, or the one that was exchanged for the token. */
  readonly key?: { readonly id: string; readonly plan: string }
  /** Why the token or the key was refused, for the caller. */
  readonly fault?: string
  /** The client has sent too many invalid keys. */
  readonly retryAfterSeconds?: number
}

/** @throws {AuthUnavailableError} if the auth server cannot be reached. */
export type Identify = (
  authorization: string | undefined,
  address: string | undefined,
) => Promise<Caller>

/** Identifies callers by access tokens, which are verified here, and by API keys, about which the auth server is asked. */
export function createIdentify(verifier: Verifier, keys: KeyOptions | undefined): Identify {
  return async (authorization, address) => {
    if (authorization === undefined) return {}
    const key = /^Bearer (pck_\S+)$/i.exec(authorization)?.[1]
    if (key !== undefined && keys !== undefined) return await verifyKey(keys, key, address)
    try {
      return toCaller(await verifier.verifyHeader(authorization))
    } catch (error) {
      if (!(error instanceof TokenError)) throw error
      return { fault: `The access token was refused: ${error.message}. Sign in again.` }
    }
  }
}

function toCaller({ sub, email, key_id: id, plan }: AccessTokenClaims): Caller {
  const user = { id: sub, email: email || undefined }
  return id === undefined ? { user } : { user, key: { id, plan: plan ?? defaultPlan } }
}

/** The rate limits need a plan for keys without one as well. */
const defaultPlan = 'default'

const timeoutMs = 5_000

async function verifyKey(
  { authUrl, token }: KeyOptions,
  key: string,
  address: string | undefined,
): Promise<Caller> {
  const response = await fetch(`${authUrl}/api-keys/verify`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${typeof token === 'string' ? token : await token()}`,
    },
    // With the address of the client, guesses of one client do not affect the others.
    body: JSON.stringify({ api_key: key, ip_address: address }),
    signal: AbortSignal.timeout(timeoutMs),
  }).catch((cause: unknown) => {
    throw new AuthUnavailableError('The API key could not be verified', { cause })
  })
  if (response.status === 429) {
    return { retryAfterSeconds: Number(response.headers.get('retry-after') ?? 1) }
  }
  if (!response.ok) {
    throw new AuthUnavailableError(`The auth server responded with status ${response.status}`)
  }
  const { active, sub, key_id: id, plan } = await response.json()
  if (active !== true) return { fault: 'The API key is not valid. Create a new one.' }
  return { user: { id: sub, email: undefined }, key: { id, plan: plan ?? defaultPlan } }
}
