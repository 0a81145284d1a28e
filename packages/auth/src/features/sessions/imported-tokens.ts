import {
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto'
import type { Queries } from '../../db/database.ts'
import type { KeyRing } from '../../tokens/key-ring.ts'
import { createSecretBox, type SecretBox } from '../../tokens/secret-box.ts'
import { type RefreshToken, toUuid } from './refresh-tokens.ts'
import { findImportedKey, findImportedToken } from './statements/imported-tokens.ts'

/** Refresh tokens of another server, whose sessions were imported with `auth import`. */
export interface ImportedTokens {
  /** Undefined when the token does not belong to an imported session. */
  find(text: string): Promise<RefreshToken | undefined>
}

export interface ImportedTokensSettings {
  readonly db: Queries
  /** The key ring `refresh_tokens`. */
  readonly keys: KeyRing
}

/**
 * Supabase Auth has issued two kinds of tokens: random text that it stores, and signed tokens whose
 * key is in the session. Both lead to a position in the sequence of the session's tokens, like a
 * token of this server, so the rules for rotation and reuse are the same.
 */
export function createImportedTokens({ db, keys }: ImportedTokensSettings): ImportedTokens {
  const sessionKeys = createSessionKeyBox(keys)
  return {
    async find(text) {
      const signed = parseSignedToken(text)
      if (signed !== undefined) {
        const { sessionId, counter } = signed
        const [row] = await db.run(findImportedKey, { sessionId })
        const key = row && tryToOpen(sessionKeys, row.sealed_key, sessionId)
        return key && hasSignature(signed, key) ? { sessionId, counter } : undefined
      }
      if (!isStoredToken(text)) return undefined
      const [row] = await db.run(findImportedToken, { tokenHash: hashStoredToken(text) })
      return row && { sessionId: row.session_id, counter: row.counter }
    },
  }
}

/**
 * Encrypts the keys of imported sessions. The key is derived from that of the refresh tokens,
 * because both are needed equally long: until all sessions were refreshed.
 */
export function createSessionKeyBox(keys: KeyRing): SecretBox {
  const purpose = 'portcullis auth: imported session keys'
  const derive = (key: KeyObject) =>
    createSecretKey(Buffer.from(hkdfSync('sha256', key, '', purpose, 32)))
  return createSecretBox({
    current: () => derive(keys.current()),
    all: () => keys.all().map(derive),
  })
}

/** Undefined when the server key was retired; then the session has ended, like those with our tokens. */
function tryToOpen(box: SecretBox, sealed: Buffer, sessionId: string): Buffer | undefined {
  try {
    return box.open(sealed, sessionId)
  } catch {
    return undefined
  }
}

interface SignedToken extends RefreshToken {
  readonly signedBytes: Buffer
  readonly signature: Buffer
}

const idAt = 1
const counterAt = 17
const signatureBytes = 16
const checksumBytes = 4
const leastBytes = counterAt + 1 + signatureBytes + checksumBytes
/** The counter is at most nine bytes long. */
const mostBytes = leastBytes + 8
/** The type of the database column. */
const highestCounter = 2 ** 31 - 1

/** Layout: version, session ID, counter as a variable-length integer, signature, checksum. */
function parseSignedToken(text: string): SignedToken | undefined {
  if (!/^[\w-]{51,62}$/.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length < leastBytes || bytes.length > mostBytes || bytes[0] !== 0) return undefined
  const checksumAt = bytes.length - checksumBytes
  const checksum = createHash('sha256').update(bytes.subarray(0, checksumAt)).digest()
  if (!checksum.subarray(0, checksumBytes).equals(bytes.subarray(checksumAt))) return undefined
  const signatureAt = checksumAt - signatureBytes
  const counter = parseCounter(bytes.subarray(counterAt, signatureAt))
  if (counter === undefined) return undefined
  return {
    sessionId: toUuid(bytes.toString('hex', idAt, counterAt)),
    counter,
    signedBytes: bytes.subarray(0, signatureAt),
    signature: bytes.subarray(signatureAt, checksumAt),
  }
}

/** Parses seven bits per byte, the lowest first; all bytes but the last have the highest bit set. */
function parseCounter(bytes: Buffer): number | undefined {
  let counter = 0
  for (const [at, byte] of bytes.entries()) {
    counter += (byte & 0x7f) * 2 ** (7 * at)
    const isLast = at === bytes.length - 1
    if (byte < 0x80 !== isLast) return undefined
  }
  return bytes.length > 0 && counter <= highestCounter ? counter : undefined
}

function hasSignature({ signedBytes, signature }: SignedToken, key: Buffer): boolean {
  const own = createHmac('sha256', key).update(signedBytes).digest().subarray(0, signatureBytes)
  return timingSafeEqual(own, signature)
}

/** 12 characters since 2025, and 22 before. */
function isStoredToken(text: string): boolean {
  return /^(?:[a-z2-7]{12}|[\w-]{22})$/.test(text)
}

/** The same as `sha256` of PostgreSQL. */
function hashStoredToken(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
