import {
  createCipheriv,
  createDecipheriv,
  createHash,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { createKeyRing, type KeyRing } from './key-ring.ts'

/** Encrypts secrets that must be readable again, such as TOTP secrets, before they are stored. */
export interface SecretBox {
  /** @param owner the row that the secret belongs to; it cannot be decrypted for any other row. */
  seal(secret: Uint8Array, owner: string): Buffer
  /** @throws {Error} if it was modified, or encrypted with another key or for another owner. */
  open(sealed: Buffer, owner: string): Buffer
}

const nonceBytes = 12
const tagBytes = 16

/**
 * AES-256-GCM; the format is nonce, tag, ciphertext.
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
          // The secret may have been encrypted with an older key.
          failure = error
        }
      }
      throw failure
    },
  }
}

function openWith(key: KeyObject, sealed: Buffer, owner: string): Buffer {
  const nonce = sealed.subarray(0, nonceBytes)
  const textAt = nonceBytes + tagBytes
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
    .setAAD(Buffer.from(owner))
    .setAuthTag(sealed.subarray(nonceBytes, textAt))
  return Buffer.concat([decipher.update(sealed.subarray(textAt)), decipher.final()])
}

/** The operator's keys, which encrypt the keys in the database. */
export interface SecretKeys {
  /** Undefined: keys are stored unencrypted from now on. */
  readonly encryption: string | undefined
  /** All keys that decrypt, including the one that encrypts. */
  readonly all: readonly string[]
}

/** The same keys, prepared for use. */
export interface WrappingKeys {
  readonly current: WrappingKey | undefined
  readonly all: readonly WrappingKey[]
}

export function createWrappingKeys({ encryption, all }: SecretKeys): WrappingKeys {
  return {
    current: encryption === undefined ? undefined : createWrappingKey(encryption),
    all: all.map(createWrappingKey),
  }
}

/** A key of the operator, which encrypts the keys in the database. */
export interface WrappingKey {
  /** Identifies the key without revealing anything about it. */
  readonly fingerprint: string
  /**
   * @param owner the name and version of the wrapped key; it cannot be unwrapped under another
   * name.
   */
  wrap(key: Buffer, owner: string): Buffer
  /** @throws {Error} if it was modified. */
  unwrap(wrapped: Buffer, owner: string): Buffer
}

function createWrappingKey(secret: string): WrappingKey {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'portcullis auth: server keys', 32))
  const box = createSecretBox(createKeyRing(key))
  return {
    fingerprint: createHash('sha256').update(key).digest('hex').slice(0, 16),
    wrap: box.seal,
    unwrap: box.open,
  }
}
