/** Options of {@link secretKey}. */
export interface SecretKeyOptions {
  /**
   * Makes the digest an HMAC with this key. Set it for values that can be guessed, such as phone numbers or
   * e-mail addresses: a plain digest of these can be reversed by trying all of them. Default: a plain digest.
   */
  readonly key?: string | Uint8Array | undefined
}

/** 132 bits: too many for two secrets to share a counter, and half the length of a whole digest. */
const length = 22

/**
 * Turns a secret, such as an API key, into a value to count it by. Counters are named after their values, and
 * the names can be read in Redis, in its slow log and on debug pages, where no secret belongs.
 *
 * The digest is SHA-256, in 22 characters of base64url. It says nothing about whether the secret is valid:
 * check that first, because a client that may invent secrets gets a new counter for each.
 *
 * @example
 * ```ts
 * import { secretKey } from '@portcullis/ratelimit'
 *
 * secretKey('api-key-of-ada') // 'Ihmn38sr0a3Zwo469SV0nR'
 * ```
 *
 * @throws TypeError when `secret` is not a string or is empty
 */
export function secretKey(secret: string, { key }: SecretKeyOptions = {}): string {
  if (typeof secret !== 'string' || secret === '') {
    const found = secret === '' ? 'an empty string' : typeof secret
    throw new TypeError(
      `secretKey: the secret must be a string, not ${found}. ` +
        'Count requests without one by something else, such as ipKey(address).',
    )
  }
  // Loaded on first use, because it takes longer than loading the limiter.
  const { createHash, createHmac } = globalThis.process.getBuiltinModule('node:crypto')
  const hash = key === undefined ? createHash('sha256') : createHmac('sha256', key)
  return hash.update(secret).digest('base64url').slice(0, length)
}
