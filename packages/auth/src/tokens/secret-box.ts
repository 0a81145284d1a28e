import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { KeyRing } from './key-ring.ts'

/** Keeps secrets that must be read again, such as those of TOTP, out of the tables. */
export interface SecretBox {
  /** @param owner the row it belongs to: in any other it cannot be opened. */
  seal(secret: Uint8Array, owner: string): Buffer
  /** @throws {Error} where it was changed, or sealed with another key or for another owner. */
  open(sealed: Buffer, owner: string): Buffer
}

const nonceBytes = 12
const tagBytes = 16

/**
 * AES-256-GCM: nonce, tag, text.
 * @param keys of 32 bytes, shared by all processes of a database.
 */
export function createSecretBox(keys: KeyRing): SecretBox {
  return {
    seal(secret, owner) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', keys.current(), nonce).setAAD(Buffer.from(owner))
      const text = Buffer.concat([cipher.update(secret), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), text])
    },
    open(sealed, owner) {
      let failure: unknown
      for (const key of keys.all()) {
        try {
          return openWith(key, sealed, owner)
        } catch (error) {
          // It may be older than the newest key.
          failure = error
        }
      }
      throw failure
    },
  }
}

function openWith(key: Buffer, sealed: Buffer, owner: string): Buffer {
  const nonce = sealed.subarray(0, nonceBytes)
  const textAt = nonceBytes + tagBytes
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
    .setAAD(Buffer.from(owner))
    .setAuthTag(sealed.subarray(nonceBytes, textAt))
  return Buffer.concat([decipher.update(sealed.subarray(textAt)), decipher.final()])
}
