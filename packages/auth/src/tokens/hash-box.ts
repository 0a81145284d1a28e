import { createSecretKey } from 'node:crypto'
import { SettingError } from '../errors.ts'
import { decryptField, encryptField, parseEncryptedField } from './field-encryption.ts'

/** The operator's keys for password hashes. */
export interface HashKeys {
  /** The ID of the key that encrypts. Undefined: new hashes are stored unencrypted. */
  readonly currentId: string | undefined
  /** All keys that decrypt, including the one that encrypts, by ID: 32 bytes in base64url. */
  readonly byId: ReadonlyMap<string, string>
}

/** Encrypts password hashes before they are stored, and decrypts stored ones. */
export interface HashBox {
  /** Whether `seal` encrypts. */
  readonly encrypts: boolean
  /** Returns what is stored. It cannot be decrypted for any other user. */
  seal(hash: string, userId: string): string
  /**
   * Returns unencrypted hashes unchanged.
   * @throws {SettingError} if the key is unknown or has another value.
   */
  open(stored: string, userId: string): string
  /** Whether `seal` would use the same key. Without a key, every stored hash stays as it is. */
  isCurrent(stored: string): boolean
}

const variable = 'AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS'

/** The keys encrypt the hashes directly, so that the hashes do not depend on the table of keys. */
export function createHashBox({ currentId, byId }: HashKeys): HashBox {
  const keys = new Map([...byId].map(([id, key]) => [id, createSecretKey(key, 'base64url')]))
  const current = currentId === undefined ? undefined : keys.get(currentId)
  if (currentId !== undefined && current === undefined) {
    throw new SettingError(`${variable} does not contain the key ${JSON.stringify(currentId)}`)
  }
  return {
    encrypts: current !== undefined,
    seal(hash, userId) {
      if (currentId === undefined || current === undefined) return hash
      return encryptField(hash, userId, currentId, current)
    },
    open(stored, userId) {
      const encrypted = parseEncryptedField(stored)
      if (encrypted === undefined) return stored
      const id = JSON.stringify(encrypted.keyId)
      const fault = `The password hash of user ${userId} cannot be decrypted`
      const key = keys.get(encrypted.keyId)
      if (key === undefined) {
        throw new SettingError(
          `${fault}: ${variable} does not contain its key, which has the name ${id}. Add that key.`,
        )
      }
      const hash = decryptField(encrypted, userId, key)
      if (hash === undefined) {
        throw new SettingError(
          `${fault} with the key ${id} from ${variable}. Set that name to the key that encrypted ` +
            'the hash. If the key is right, the hash was modified or belongs to another user.',
        )
      }
      return hash
    },
    isCurrent: (stored) =>
      current === undefined || parseEncryptedField(stored)?.keyId === currentId,
  }
}
