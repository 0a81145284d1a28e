import { createHash, hkdfSync } from 'node:crypto'
import { createKeyRing } from './key-ring.ts'
import { createSecretBox } from './secret-box.ts'

/** A key of AUTH_SECRETS_KEY, with which the keys in the database are encrypted. */
export interface WrappingKey {
  /** Tells it from others, and nothing about it. */
  readonly fingerprint: string
  /** @param owner what is wrapped: in the place of another it cannot be unwrapped. */
  wrap(key: Buffer, owner: string): Buffer
  /** @throws {Error} where it was changed. */
  unwrap(wrapped: Buffer, owner: string): Buffer
}

export function createWrappingKey(secret: string): WrappingKey {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'portcullis auth: server keys', 32))
  const box = createSecretBox(createKeyRing(key))
  return {
    fingerprint: createHash('sha256').update(key).digest('hex').slice(0, 16),
    wrap: box.seal,
    unwrap: box.open,
  }
}
