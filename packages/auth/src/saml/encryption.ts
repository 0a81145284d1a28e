import { constants, createDecipheriv, type KeyObject, privateDecrypt } from 'node:crypto'
import type { XmlElement } from './parse-xml.ts'
import { findChildren, requireAttribute, requireChild } from './read-xml.ts'
import { SamlError } from './saml-error.ts'

interface ContentCipher {
  readonly name: 'aes-128-gcm' | 'aes-256-gcm' | 'aes-128-cbc' | 'aes-256-cbc'
  readonly keyBytes: number
  readonly isAuthenticated: boolean
}

const contentCiphers: Readonly<Record<string, ContentCipher>> = {
  'http://www.w3.org/2009/xmlenc11#aes128-gcm': {
    name: 'aes-128-gcm',
    keyBytes: 16,
    isAuthenticated: true,
  },
  'http://www.w3.org/2009/xmlenc11#aes256-gcm': {
    name: 'aes-256-gcm',
    keyBytes: 32,
    isAuthenticated: true,
  },
  'http://www.w3.org/2001/04/xmlenc#aes128-cbc': {
    name: 'aes-128-cbc',
    keyBytes: 16,
    isAuthenticated: false,
  },
  'http://www.w3.org/2001/04/xmlenc#aes256-cbc': {
    name: 'aes-256-cbc',
    keyBytes: 32,
    isAuthenticated: false,
  },
}

/** OAEP only: with PKCS #1 v1.5, responses to many messages reveal the key. */
const keyTransports: readonly string[] = [
  'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p',
  'http://www.w3.org/2009/xmlenc11#rsa-oaep',
]
const oaepHashes: Readonly<Record<string, string>> = {
  'http://www.w3.org/2000/09/xmldsig#sha1': 'sha1',
  'http://www.w3.org/2001/04/xmlenc#sha256': 'sha256',
}

interface DecryptionSettings {
  /** All keys that identity providers may still use. */
  readonly keys: readonly KeyObject[]
  /**
   * Whether a verified signature covers the ciphertext. CBC is accepted only then, because anyone
   * can change such a ciphertext and learn from the responses what it contains.
   */
  readonly isSigned: boolean
}

/** Decrypts an `EncryptedAssertion`. @throws {SamlError} the same error for every wrong ciphertext. */
export function decryptAssertion(
  encrypted: XmlElement,
  { keys, isSigned }: DecryptionSettings,
): string {
  const data = requireChild(encrypted, 'encryption', 'EncryptedData')
  const algorithm = readAlgorithm(data)
  const cipher = contentCiphers[algorithm]
  if (cipher === undefined) {
    throw new SamlError(`the assertion is encrypted with ${algorithm}, which is not allowed`)
  }
  if (!cipher.isAuthenticated && !isSigned) {
    throw new SamlError(
      `the assertion is encrypted with ${algorithm}, which is allowed only in a signed response`,
    )
  }
  const encryptedKey = findEncryptedKey(encrypted, data)
  const content = readCipherValue(data)
  for (const key of keys) {
    try {
      return decryptContent(cipher, decryptKey(encryptedKey, key), content)
    } catch (error) {
      if (error instanceof SamlError) throw error
    }
  }
  throw cannotDecrypt()
}

/** Does not say why: each difference would help to find out what a changed ciphertext contains. */
export function cannotDecrypt(): SamlError {
  return new SamlError('the assertion cannot be decrypted')
}

function readAlgorithm(element: XmlElement): string {
  return requireAttribute(requireChild(element, 'encryption', 'EncryptionMethod'), 'Algorithm')
}

/** The key is inside the data or beside it. */
function findEncryptedKey(encrypted: XmlElement, data: XmlElement): XmlElement {
  const inside = findChildren(data, 'signature', 'KeyInfo').flatMap((info) =>
    findChildren(info, 'encryption', 'EncryptedKey'),
  )
  const [key, ...more] = [...inside, ...findChildren(encrypted, 'encryption', 'EncryptedKey')]
  if (key !== undefined && more.length === 0) return key
  throw new SamlError('the encrypted assertion must have exactly one EncryptedKey')
}

function decryptKey(encryptedKey: XmlElement, key: KeyObject): Buffer {
  const transport = readAlgorithm(encryptedKey)
  if (!keyTransports.includes(transport)) {
    throw new SamlError(`the key is encrypted with ${transport}, which is not allowed`)
  }
  const method = requireChild(encryptedKey, 'encryption', 'EncryptionMethod')
  const [digest] = findChildren(method, 'signature', 'DigestMethod')
  const oaepHash =
    oaepHashes[digest?.attributes.get('Algorithm') ?? Object.keys(oaepHashes)[0] ?? '']
  if (oaepHash === undefined) throw new SamlError('the key is encrypted with an unknown digest')
  const padding = constants.RSA_PKCS1_OAEP_PADDING
  return privateDecrypt({ key, padding, oaepHash }, readCipherValue(encryptedKey))
}

function decryptContent({ name, keyBytes }: ContentCipher, key: Buffer, content: Buffer): string {
  if (key.length !== keyBytes) throw new RangeError('The key has another length')
  if (name === 'aes-128-gcm' || name === 'aes-256-gcm') {
    const decipher = createDecipheriv(name, key, content.subarray(0, 12), { authTagLength: 16 })
    decipher.setAuthTag(content.subarray(-16))
    return decode(Buffer.concat([decipher.update(content.subarray(12, -16)), decipher.final()]))
  }
  const decipher = createDecipheriv(name, key, content.subarray(0, 16)).setAutoPadding(false)
  const padded = Buffer.concat([decipher.update(content.subarray(16)), decipher.final()])
  // XML Encryption sets only the last byte of the padding.
  const padding = padded.at(-1) ?? 0
  if (padding < 1 || padding > 16) throw new RangeError('The padding is wrong')
  return decode(padded.subarray(0, -padding))
}

function decode(bytes: Buffer): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
}

function readCipherValue(element: XmlElement): Buffer {
  const data = requireChild(element, 'encryption', 'CipherData')
  const { text } = requireChild(data, 'encryption', 'CipherValue')
  return Buffer.from(text, 'base64')
}
