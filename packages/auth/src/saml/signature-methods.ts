import { constants, type KeyObject, type VerifyKeyObjectInput, verify } from 'node:crypto'

interface SignatureMethod {
  readonly keyType: 'rsa' | 'ec'
  readonly hash: 'sha256' | 'sha384' | 'sha512'
  readonly options?: Omit<VerifyKeyObjectInput, 'key'>
}

const more = 'http://www.w3.org/2001/04/xmldsig-more#'
const pss = {
  padding: constants.RSA_PKCS1_PSS_PADDING,
  saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
}
/** The two numbers one after the other (XML Signature 1.1, section 6.4.3), and not in DER. */
const ecdsa = { dsaEncoding: 'ieee-p1363' } as const

/** Neither SHA-1 nor HMAC, with which a public key could be used as a shared secret. */
const methods: Readonly<Record<string, SignatureMethod>> = {
  [`${more}rsa-sha256`]: { keyType: 'rsa', hash: 'sha256' },
  [`${more}rsa-sha384`]: { keyType: 'rsa', hash: 'sha384' },
  [`${more}rsa-sha512`]: { keyType: 'rsa', hash: 'sha512' },
  'http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1': {
    keyType: 'rsa',
    hash: 'sha256',
    options: pss,
  },
  [`${more}ecdsa-sha256`]: { keyType: 'ec', hash: 'sha256', options: ecdsa },
  [`${more}ecdsa-sha384`]: { keyType: 'ec', hash: 'sha384', options: ecdsa },
  [`${more}ecdsa-sha512`]: { keyType: 'ec', hash: 'sha512', options: ecdsa },
}

export const signatureMethods: readonly string[] = Object.keys(methods)

/**
 * Whether one of the keys has signed the text. A key is used only with the methods of its type,
 * because Node would otherwise choose the method by the key.
 * @param value the signature in Base64.
 */
export function isSignedByAny(
  keys: readonly KeyObject[],
  name: string,
  text: string,
  value: string,
): boolean {
  const method = methods[name]
  if (method === undefined) return false
  const { keyType, hash, options } = method
  const signature = Buffer.from(value, 'base64')
  return keys
    .filter((key) => key.asymmetricKeyType === keyType)
    .some((key) => verify(hash, Buffer.from(text), { ...options, key }, signature))
}

const smallestRsaBits = 2_048
const curves: readonly string[] = ['prime256v1', 'secp384r1', 'secp521r1']

/** What a key must be to sign, as the end of a sentence. */
export const acceptedKeys = `RSA with at least ${smallestRsaBits} bits, or EC with the curve P-256, P-384 or P-521`

export function isAcceptedKey({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  const { modulusLength = 0, namedCurve = '' } = asymmetricKeyDetails ?? {}
  if (asymmetricKeyType === 'rsa') return modulusLength >= smallestRsaBits
  return asymmetricKeyType === 'ec' && curves.includes(namedCurve)
}
