import {
  createHmac,
  type JsonWebKey,
  type KeyObject,
  sign,
  timingSafeEqual,
  verify,
} from 'node:crypto'

/** How one algorithm of JWS signs. An algorithm belongs to one type of key, and only to that. */
export interface SigningAlgorithm {
  readonly keyType: JsonWebKey['kty']
  /** Where the type of key leaves a choice. */
  readonly curve?: string
  sign(data: string, key: KeyObject): Buffer
  verify(data: string, key: KeyObject, signature: Buffer): boolean
}

/** The only ones there are: `none` and everything else is unknown. */
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

export type AlgorithmName = keyof typeof signingAlgorithms

export function isAlgorithmName(name: unknown): name is AlgorithmName {
  return typeof name === 'string' && Object.hasOwn(signingAlgorithms, name)
}

function rsa(digest: string): SigningAlgorithm {
  return {
    keyType: 'RSA',
    sign: (data, key) => sign(digest, Buffer.from(data), key),
    verify: (data, key, signature) => verify(digest, Buffer.from(data), key, signature),
  }
}

/** JWS has the two numbers side by side, where OpenSSL would write a structure. */
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
