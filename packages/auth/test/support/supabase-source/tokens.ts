import { createCipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto'

/** A refresh token that Supabase Auth stores: 12 characters now, 22 in older releases. */
export function newStoredToken(length: 12 | 22): string {
  if (length === 22) return randomBytes(16).toString('base64url')
  return Array.from(randomBytes(12), (byte) => 'abcdefghijklmnopqrstuvwxyz234567'[byte % 32]).join(
    '',
  )
}

/** A refresh token that Supabase Auth signs with the key of the session. */
export function signToken(sessionId: string, counter: number, key: Buffer): string {
  const digits: number[] = []
  let rest = counter
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) digits.push((rest % 0x80) | 0x80)
  const head = Buffer.concat([
    Buffer.from([0]),
    Buffer.from(sessionId.replaceAll('-', ''), 'hex'),
    Buffer.from([...digits, rest]),
  ])
  const signature = createHmac('sha256', key).update(head).digest().subarray(0, 16)
  const signed = Buffer.concat([head, signature])
  const checksum = createHash('sha256').update(signed).digest().subarray(0, 4)
  return Buffer.concat([signed, checksum]).toString('base64url')
}

/** Encrypts a column as Supabase Auth does with GOTRUE_SECURITY_DB_ENCRYPTION_ENCRYPT. */
export function encryptField(text: string, owner: string, keyId: string, key: Buffer): string {
  const derived = Buffer.from(hkdfSync('sha256', key, '', owner, 32))
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', derived, nonce)
  const data = Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()])
  return JSON.stringify({
    key_id: keyId,
    alg: 'aes-gcm-hkdf',
    data: data.toString('base64'),
    nonce: nonce.toString('base64'),
  })
}
