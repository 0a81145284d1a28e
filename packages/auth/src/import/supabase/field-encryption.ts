import { decryptField, fieldKeyBytes, parseEncryptedField } from '../../tokens/field-encryption.ts'
import { ImportError } from '../import-error.ts'

/** Decrypts values that Supabase Auth encrypts with GOTRUE_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY. */
export interface FieldDecryption {
  /**
   * Returns text that is not encrypted unchanged. Undefined if the value cannot be decrypted.
   * @param owner the ID of the row.
   * @throws {ImportError} if the key was not passed.
   */
  decrypt(text: string, owner: string): string | undefined
}

/** @param keys by ID; see `parseDecryptionKeys`. */
export function createFieldDecryption(keys: ReadonlyMap<string, Buffer>): FieldDecryption {
  return {
    decrypt(text, owner) {
      const encrypted = parseEncryptedField(text)
      if (encrypted === undefined) return text
      const key = keys.get(encrypted.keyId)
      if (key === undefined) {
        throw new ImportError(
          `The source encrypts secrets with the key "${encrypted.keyId}", which was not passed: add ` +
            `--decryption-key ${encrypted.keyId}=KEY, with the key from GOTRUE_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS.`,
        )
      }
      return decryptField(encrypted, owner, key)
    },
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
      if (id === undefined || key.length !== fieldKeyBytes) {
        throw new ImportError(
          `A decryption key must be ID=KEY, where KEY is ${fieldKeyBytes} bytes in base64${id === undefined ? '' : `; check the key "${id}"`}.`,
        )
      }
      return [id, key]
    }),
  )
}
