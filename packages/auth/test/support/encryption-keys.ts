import { randomBytes } from 'node:crypto'

const prefix = 'GOTRUE_SECURITY_DB_ENCRYPTION'

export const encryptionKeys = {
  a: randomBytes(32),
  b: randomBytes(32),
} as const
type KeyId = keyof typeof encryptionKeys

/**
 * The variables of Supabase Auth for encryption.
 * @param id the key that encrypts.
 * @param known the keys that decrypt.
 */
export function toEncryptionEnvironment(
  encrypts: boolean,
  id: KeyId,
  known: readonly KeyId[],
): Readonly<Record<string, string>> {
  const toText = (name: KeyId) => encryptionKeys[name].toString('base64url')
  return {
    AUTH_SECRETS_KEY: '',
    [`${prefix}_ENCRYPT`]: `${encrypts}`,
    [`${prefix}_ENCRYPTION_KEY_ID`]: id,
    [`${prefix}_ENCRYPTION_KEY`]: toText(id),
    [`${prefix}_DECRYPTION_KEYS`]: known.map((name) => `${name}:${toText(name)}`).join(),
  }
}

/** The ID of the key that encrypts a stored password hash; undefined if it is not encrypted. */
export function keyIdOf(stored: string): string | undefined {
  if (!stored.startsWith('{')) return undefined
  const { key_id: id, alg } = JSON.parse(stored)
  return alg === 'aes-gcm-hkdf' ? id : undefined
}
