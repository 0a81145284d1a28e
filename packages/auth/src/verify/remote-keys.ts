import { toReason } from '@portcullis/service-kit/text/reason'
import {
  type CryptoKey,
  createLocalJWKSet,
  errors,
  type JSONWebKeySet,
  type JWSHeaderParameters,
} from 'jose'
import { AuthUnavailableError } from './errors.ts'

type FindKey = (header: JWSHeaderParameters) => Promise<CryptoKey>

interface KnownKeys {
  readonly find: FindKey
  readonly fetchedMs: number
}

/** The auth server lets caches keep its keys for ten minutes. */
const freshMs = 600_000
/** Keys that were fetched earlier are not used, even while the auth server is unavailable. */
const usableMs = 24 * 3_600_000
/** Limits how often tokens with unknown key ids cause a fetch. */
const pauseForUnknownKeysMs = 30_000
/** While the auth server is down, not every request waits for a timeout. */
const pauseAfterFailureMs = 1_000
const timeoutMs = 5_000

/** The public keys of an auth server: fetched when first needed, then cached. */
export class RemoteKeys {
  readonly #url: URL
  readonly #now: () => number
  #known: KnownKeys | undefined
  #fetching: Promise<KnownKeys> | undefined
  #failure: { readonly error: AuthUnavailableError; readonly atMs: number } | undefined

  constructor(url: URL, now: () => number) {
    this.#url = url
    this.#now = now
  }

  /**
   * @throws {AuthUnavailableError} if there are no keys, and none can be fetched.
   * @throws {errors.JWKSNoMatchingKey} if the auth server has no such key.
   */
  async find(header: JWSHeaderParameters): Promise<CryptoKey> {
    const keys = await this.#read()
    try {
      return await keys.find(header)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      // The auth server may have a new signing key.
      if (this.#now() - keys.fetchedMs < pauseForUnknownKeysMs) throw error
      return (await this.#fetch()).find(header)
    }
  }

  async #read(): Promise<KnownKeys> {
    const known = this.#known
    const ageMs = known ? this.#now() - known.fetchedMs : Number.POSITIVE_INFINITY
    if (known && ageMs < freshMs) return known
    try {
      return await this.#fetch()
    } catch (error) {
      if (known && ageMs < usableMs) return known
      throw error
    }
  }

  #fetch(): Promise<KnownKeys> {
    const failure = this.#failure
    if (failure && this.#now() - failure.atMs < pauseAfterFailureMs)
      return Promise.reject(failure.error)
    this.#fetching ??= this.#fetchNow().finally(() => {
      this.#fetching = undefined
    })
    return this.#fetching
  }

  async #fetchNow(): Promise<KnownKeys> {
    try {
      const keys = await fetchKeys(this.#url)
      this.#failure = undefined
      this.#known = { find: createLocalJWKSet(keys), fetchedMs: this.#now() }
      return this.#known
    } catch (cause) {
      const error = new AuthUnavailableError(
        `No keys from ${this.#url.href}: ${describeFailure(cause)}`,
        { cause },
      )
      this.#failure = { error, atMs: this.#now() }
      throw error
    }
  }
}

/** `fetch` reports the reason in the cause of its error. */
function describeFailure(error: unknown): string {
  if (error instanceof KeysError) return error.message
  const { cause } = error as Error
  return `${toReason(cause ?? error)}. Is the auth server running, and is "authUrl" its address?`
}

/** The response of the auth server does not contain keys. */
class KeysError extends Error {}

async function fetchKeys(url: URL): Promise<JSONWebKeySet> {
  const response = await fetch(url, {
    headers: { accept: 'application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  })
  if (response.status === 404)
    throw new KeysError(
      'it responded with status 404. Does "authUrl" lack the path of the auth server, such as /auth/v1?',
    )
  if (!response.ok) throw new KeysError(`it responded with status ${response.status}`)
  const { keys } = parseKeys(await response.text())
  if (!Array.isArray(keys))
    throw new KeysError(
      'it did not respond with a JWK set. Is "authUrl" the address of the auth server?',
    )
  if (keys.length === 0)
    throw new KeysError(
      'it publishes no keys, because it signs tokens with a secret. ' +
        'Pass that secret (AUTH_JWT_SECRET) as option "secret", or set AUTH_JWT_KEYS on the auth server',
    )
  return { keys }
}

function parseKeys(text: string): Partial<JSONWebKeySet> {
  try {
    return JSON.parse(text) ?? {}
  } catch {
    return {}
  }
}
