// Signs or verifies tokens with one implementation in a separate process.

import { generateKeyPairSync, type JsonWebKey, randomUUID } from 'node:crypto'
import { answerParent } from '@portcullis/bench-kit/answer-parent'
import { type CryptoKey, importJWK, jwtVerify, SignJWT } from 'jose'
import { createTokenSigner } from '../../src/tokens/json-web-token.ts'
import { createSigningKeys } from '../../src/tokens/signing-keys.ts'

export const implementations = ['portcullis', 'jose'] as const
export type Implementation = (typeof implementations)[number]
export const algorithms = ['HS256', 'RS256', 'ES256', 'EdDSA'] as const
export type Algorithm = (typeof algorithms)[number]

export interface TokenJob {
  readonly implementation: Implementation
  readonly algorithm: Algorithm
  readonly operation: 'sign' | 'verify'
  readonly calls: number
}

export interface TokenOutcome {
  readonly cpuSeconds: number
}

interface Tokens {
  sign(): unknown
  verify(token: string): unknown
}

/** The number of concurrent requests. */
const inFlight = 64
const secret = 'a secret of sixty-four characters, which is longer than a hash..'
const kid = randomUUID()

const nowSeconds = Math.floor(Date.now() / 1_000)
const claims = {
  iss: 'https://auth.example.com',
  sub: randomUUID(),
  aud: 'authenticated',
  exp: nowSeconds + 3_600,
  iat: nowSeconds,
  email: 'ada@example.com',
  phone: '',
  app_metadata: { provider: 'email', providers: ['email'] },
  user_metadata: { name: 'Ada', email_verified: true },
  role: 'authenticated',
  aal: 'aal1',
  amr: [{ method: 'password', timestamp: nowSeconds }],
  session_id: randomUUID(),
  is_anonymous: false,
}

const opened = new Map<string, Tokens>()

answerParent(async (job: TokenJob): Promise<TokenOutcome> => {
  const { implementation, algorithm, operation, calls } = job
  const name = `${implementation} ${algorithm}`
  const tokens = opened.get(name) ?? (await createTokens[implementation](algorithm))
  const token = String(await tokens.sign())
  const run = operation === 'sign' ? () => tokens.sign() : () => tokens.verify(token)
  if (!opened.has(name)) await runAll(run, calls)
  opened.set(name, tokens)
  const start = process.cpuUsage()
  await runAll(run, calls)
  const { user, system } = process.cpuUsage(start)
  return { cpuSeconds: (user + system) / 1e6 }
})

async function runAll(run: () => unknown, calls: number): Promise<void> {
  let begun = 0
  const runSome = async () => {
    while (begun++ < calls) {
      const outcome = run()
      if (outcome instanceof Promise) await outcome
    }
  }
  await Promise.all(Array.from({ length: inFlight }, runSome))
}

/** Every verification is measured as if it were the first of its token. */
const forgetful = { get: () => undefined, add() {} }

const createTokens: Readonly<Record<Implementation, (algorithm: Algorithm) => Promise<Tokens>>> = {
  async portcullis(algorithm) {
    const jwk = { ...toPrivateKey(algorithm), kid, alg: algorithm, key_ops: ['sign', 'verify'] }
    const keys = algorithm === 'HS256' ? undefined : JSON.stringify([jwk])
    const signingKeys = createSigningKeys({ secret, keyId: undefined, keys })
    const signer = createTokenSigner(signingKeys, undefined, forgetful)
    return {
      sign: () => signer.sign(claims),
      verify: (token) => signer.verify(token, nowSeconds),
    }
  },

  /** Keys are imported once, because importing them for each token would be slower. */
  async jose(algorithm) {
    const { privateKey, publicKey } = await importKeys(algorithm)
    const header = { alg: algorithm, typ: 'JWT' }
    return {
      sign: () => new SignJWT(claims).setProtectedHeader(header).sign(privateKey),
      verify: (token) => jwtVerify(token, publicKey, { algorithms: [algorithm] }),
    }
  },
}

async function importKeys(
  algorithm: Algorithm,
): Promise<{ readonly privateKey: CryptoKey; readonly publicKey: CryptoKey }> {
  if (algorithm === 'HS256') {
    const options = { name: 'HMAC', hash: 'SHA-256' }
    const bytes = new TextEncoder().encode(secret)
    const key = await crypto.subtle.importKey('raw', bytes, options, false, ['sign', 'verify'])
    return { privateKey: key, publicKey: key }
  }
  const { d, p, q, dp, dq, qi, ...open } = toPrivateKey(algorithm)
  const privateKey = await importJWK({ ...open, d, p, q, dp, dq, qi } as JsonWebKey, algorithm)
  const publicKey = await importJWK(open as JsonWebKey, algorithm)
  if (privateKey instanceof Uint8Array || publicKey instanceof Uint8Array) {
    throw new Error(`${algorithm} has no key pair`)
  }
  return { privateKey, publicKey }
}

function toPrivateKey(algorithm: Algorithm): JsonWebKey {
  const { privateKey } =
    algorithm === 'RS256'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : algorithm === 'ES256'
        ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
        : generateKeyPairSync('ed25519')
  return privateKey.export({ format: 'jwk' })
}
