import { createDecipheriv, hkdfSync } from 'node:crypto'
import { ImportError } from '../import-error.ts'
import { toJsonValue } from '../json-value.ts'

/** Decrypts values that Supabase Auth encrypts with GOTRUE_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY. */
export interface FieldDecryption {
  /**
   * Returns text that is not encrypted unchanged. Undefined if the value cannot be decrypted.
   * @param owner the ID of the row.
   * @throws {ImportError} if the key was not passed.
   */
  decrypt(text: string, owner: string): string | undefined
}

const algorithm = 'aes-gcm-hkdf'
const tagBytes = 16
const keyBytes = 32

/** @param keys by ID; see `parseDecryptionKeys`. */
export function createFieldDecryption(keys: ReadonlyMap<string, Buffer>): FieldDecryption {
  return {
    decrypt(text, owner) {
      const encrypted = parseEncrypted(text)
      if (encrypted === undefined) return text
      const key = keys.get(encrypted.keyId)
      if (key === undefined) {
        throw new ImportError(
          `The source encrypts secrets with the key "${encrypted.keyId}", which was not passed: add ` +
            `--decryption-key ${encrypted.keyId}=KEY, with the key from GOTRUE_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS.`,
        )
      }
      return decryptWith(encrypted, Buffer.from(hkdfSync('sha256', key, '', owner, keyBytes)))
    },
  }
}

interface Encrypted {
  readonly keyId: string
  readonly data: Buffer
  readonly nonce: Buffer
}

function parseEncrypted(text: string): Encrypted | undefined {
  if (!text.startsWith('{')) return undefined
  const value = toJsonValue(text)
  if (typeof value !== 'object' || value === null) return undefined
  const { key_id: keyId, alg, data, nonce } = value as Record<string, unknown>
  if (alg !== algorithm || typeof keyId !== 'string' || keyId === '') return undefined
  if (typeof data !== 'string' || typeof nonce !== 'string') return undefined
  return { keyId, data: Buffer.from(data, 'base64'), nonce: Buffer.from(nonce, 'base64') }
}

function decryptWith({ data, nonce }: Encrypted, key: Buffer): string | undefined {
  const tagAt = data.length - tagBytes
  if (tagAt < 0) return undefined
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
    decipher.setAuthTag(data.subarray(tagAt))
    return Buffer.concat([decipher.update(data.subarray(0, tagAt)), decipher.final()]).toString()
  } catch {
    // The value was modified, or another key with the same ID was passed.
    return undefined
  }
}

/**
 * Parses keys in the form `ID=KEY`, or `ID:KEY` as in the variable of Supabase Auth. Keys are 32 bytes
 * in base64.
 * @throws {ImportError}
 */
export function parseDecryptionKeys(texts: readonly string[]): ReadonlyMap<string, Buffer> {
  return new Map(
    texts.map((text) => {
      const { id, value } = /^(?<id>[^=:]+)[=:](?<value>.+)$/.exec(text)?.groups ?? {}
      const key = Buffer.from(value ?? '', 'base64')
      if (id === undefined || key.length !== keyBytes) {
        throw new ImportError(
          `A decryption key must be ID=KEY, where KEY is ${keyBytes} bytes in base64${id === undefined ? '' : `; check the key "${id}"`}.`,
        )
      }
      return [id, key]
    }),
  )
}
