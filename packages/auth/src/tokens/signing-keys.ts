import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  type JsonWebKey,
  type KeyObject,
  sign,
  timingSafeEqual,
  verify,
} from 'node:crypto'
import { SettingError } from '../errors.ts'

interface SigningKeySettings {
  readonly secret: string
  readonly keyId: string | undefined
  /** A JSON array of JWKs. Undefined: the secret signs. */
  readonly keys: string | undefined
  /** The only accepted algorithms. Empty: those of the keys. */
  readonly validMethods?: readonly string[]
}

interface VerifyingKey {
  readonly algorithm: AlgorithmName
  readonly key: KeyObject
}

export interface SigningKeys {
  /** Whether tokens with this algorithm may be accepted at all. */
  accepts(algorithm: string): boolean
  readonly signing: VerifyingKey & { readonly kid: string | undefined }
  /** Undefined if no key can verify such a token. */
  find(algorithm: string, kid: string | undefined): VerifyingKey | undefined
  /** Published at /.well-known/jwks.json; never contains a symmetric key or private parameters. */
  readonly publicKeys: readonly PublicKey[]
}

interface PublicKey extends JsonWebKey {
  readonly kid: string
  readonly alg: AlgorithmName
  readonly use: 'sig'
  readonly key_ops: readonly ['verify']
}

/** @throws {SettingError} */
export function createSigningKeys(settings: SigningKeySettings): SigningKeys {
  const { secret, keyId, keys, validMethods = [] } = settings
  const shared: VerifyingKey = { algorithm: 'HS256', key: createSecretKey(secret, 'utf8') }
  const parsed = keys === undefined ? [] : parseKeys(keys)
  const signers = parsed.filter(({ signingKey }) => signingKey !== undefined)
  if (keys !== undefined && signers.length !== 1) {
    throw new SettingError(
      `must have exactly one key with "sign" in key_ops, but has ${signers.length}`,
    )
  }
  const byKid = new Map(parsed.map((key) => [key.kid, key]))
  const [signer] = signers
  return {
    signing: signer?.signingKey
      ? { algorithm: signer.algorithm, key: signer.signingKey, kid: signer.kid }
      : { ...shared, kid: keyId },
    accepts: (algorithm) => validMethods.length === 0 || validMethods.includes(algorithm),
    find(algorithm, kid) {
      const named = kid === undefined ? undefined : byKid.get(kid)
      // If the kid is known, only that key is used, and only with its own algorithm.
      if (named !== undefined) return named.algorithm === algorithm ? named : undefined
      return algorithm === 'HS256' ? shared : undefined
    },
    publicKeys: parsed.flatMap(({ publicKey }) => publicKey ?? []),
  }
}

interface ParsedKey extends VerifyingKey {
  readonly kid: string
  readonly signingKey: KeyObject | undefined
  readonly publicKey: PublicKey | undefined
}

function parseKeys(text: string): ParsedKey[] {
  let list: unknown
  try {
    list = JSON.parse(text)
  } catch {
    throw new SettingError('must be a JSON array of keys')
  }
  if (!Array.isArray(list)) throw new SettingError('must be a JSON array of keys')
  const parsed = list.map(parseKey)
  const kids = parsed.map(({ kid }) => kid)
  const twice = kids.find((kid, index) => kids.indexOf(kid) !== index)
  if (twice !== undefined) throw new SettingError(`has two keys with the kid ${twice}`)
  return parsed
}

function parseKey(jwk: JsonWebKey & Record<string, unknown>, index: number): ParsedKey {
  const { kid, alg, key_ops: operations, kty, crv } = jwk ?? {}
  const which = `key ${index + 1}`
  if (typeof kid !== 'string' || kid === '') throw new SettingError(`${which} has no kid`)
  if (!isAlgorithmName(alg)) {
    const known = Object.keys(signingAlgorithms).join(', ')
    throw new SettingError(`the alg of ${which} must be one of ${known}`)
  }
  const algorithm: SigningAlgorithm = signingAlgorithms[alg]
  if (kty !== algorithm.keyType || (algorithm.curve !== undefined && crv !== algorithm.curve)) {
    throw new SettingError(`the kty or crv of ${which} does not match its alg ${alg}`)
  }
  const signs = Array.isArray(operations) && operations.includes('sign')
  try {
    if (kty === 'oct') {
      const key = createSecretKey(`${jwk.k}`, 'base64url')
      return { kid, algorithm: alg, key, signingKey: signs ? key : undefined, publicKey: undefined }
    }
    const key = createPublicKey({ key: jwk, format: 'jwk' })
    const signingKey = signs ? createPrivateKey({ key: jwk, format: 'jwk' }) : undefined
    const publicKey: PublicKey = {
      ...key.export({ format: 'jwk' }),
      kid,
      alg,
      use: 'sig',
      key_ops: ['verify'],
    }
    return { kid, algorithm: alg, key, signingKey, publicKey }
  } catch {
    // The reason could contain a part of the key.
    throw new SettingError(`${which} (kid ${kid}) is not a valid ${kty} key`)
  }
}

/** An algorithm of JWS. Each algorithm can be used with only one type of key. */
interface SigningAlgorithm {
  readonly keyType: JsonWebKey['kty']
  /** Set if the key type has several curves. */
  readonly curve?: string
  sign(data: string, key: KeyObject): Buffer
  verify(data: string, key: KeyObject, signature: Buffer): boolean
}

/** All supported algorithms. Any other, including `none`, is rejected. */
export const signingAlgorithms = {
  HS256: {
    keyType: 'oct',
    sign: (data, key) => createHmac('sha256', key).update(data).digest(),
    verify(data, key, signature) {
      const expected = createHmac('sha256', key).update(data).digest()
      return expected.length === signature.length && timingSafeEqual(expected, signature)
    },
  },
  RS256: rsa('sha256'),
  RS512: rsa('sha512'),
  ES256: ecdsa('sha256', 'P-256'),
  ES512: ecdsa('sha512', 'P-521'),
  EdDSA: {
    keyType: 'OKP',
    curve: 'Ed25519',
    sign: (data, key) => sign(null, Buffer.from(data), key),
    verify: (data, key, signature) => verify(null, Buffer.from(data), key, signature),
  },
} as const satisfies Readonly<Record<string, SigningAlgorithm>>

type AlgorithmName = keyof typeof signingAlgorithms

function isAlgorithmName(name: unknown): name is AlgorithmName {
  return typeof name === 'string' && Object.hasOwn(signingAlgorithms, name)
}

function rsa(digest: string): SigningAlgorithm {
  return {
    keyType: 'RSA',
    sign: (data, key) => sign(digest, Buffer.from(data), key),
    verify: (data, key, signature) => verify(digest, Buffer.from(data), key, signature),
  }
}

/** JWS concatenates the two numbers, whereas the default of OpenSSL is DER. */
function ecdsa(digest: string, curve: string): SigningAlgorithm {
  const dsaEncoding = 'ieee-p1363'
  return {
    keyType: 'EC',
    curve,
    sign: (data, key) => sign(digest, Buffer.from(data), { key, dsaEncoding }),
    verify: (data, key, signature) =>
      verify(digest, Buffer.from(data), { key, dsaEncoding }, signature),
  }
}
