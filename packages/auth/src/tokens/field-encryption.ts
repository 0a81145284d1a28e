import {
  createCipheriv,
  createDecipheriv,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'

/**
 * The format in which Supabase Auth encrypts columns: JSON with the ID of the key. Both servers can
 * therefore use the same keys.
 */
export interface EncryptedField {
  readonly keyId: string
  readonly data: Buffer
  readonly nonce: Buffer
}

const algorithm = 'aes-gcm-hkdf'
const nonceBytes = 12
const tagBytes = 16
export const fieldKeyBytes = 32

/** Node.js derives keys faster from a key object. */
export type FieldKey = KeyObject | Buffer

/** Undefined if the text is not encrypted. */
export function parseEncryptedField(text: string): EncryptedField | undefined {
  const value = text.startsWith('{') ? parseJson(text) : undefined
  if (typeof value !== 'object' || value === null) return undefined
  const { key_id: keyId, alg, data, nonce } = value as Record<string, unknown>
  if (alg !== algorithm || typeof keyId !== 'string' || keyId === '') return undefined
  if (typeof data !== 'string' || typeof nonce !== 'string') return undefined
  return { keyId, data: Buffer.from(data, 'base64'), nonce: Buffer.from(nonce, 'base64') }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** @param owner the ID of the row; the text cannot be decrypted for any other row. */
export function encryptField(text: string, owner: string, keyId: string, key: FieldKey): string {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', deriveKey(key, owner), nonce)
  const data = Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()])
  return JSON.stringify({
    key_id: keyId,
    alg: algorithm,
    data: data.toString('base64'),
    nonce: nonce.toString('base64'),
  })
}

/** Undefined if the value was modified, belongs to another row, or was encrypted with another key. */
export function decryptField(
  { data, nonce }: EncryptedField,
  owner: string,
  key: FieldKey,
): string | undefined {
  const tagAt = data.length - tagBytes
  if (tagAt < 0) return undefined
  try {
    const settings = { authTagLength: tagBytes }
    const decipher = createDecipheriv('aes-256-gcm', deriveKey(key, owner), nonce, settings)
    decipher.setAuthTag(data.subarray(tagAt))
    return Buffer.concat([decipher.update(data.subarray(0, tagAt)), decipher.final()]).toString()
  } catch {
    return undefined
  }
}

function deriveKey(key: FieldKey, owner: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', owner, fieldKeyBytes))
}
