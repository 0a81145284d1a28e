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

/** Refresh tokens that Supabase Auth issued, for sessions that were imported with `auth import`. */
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
 * Supabase Auth issues two kinds of tokens: random text that it stores, and tokens that it signs with
 * a key per session. Like a token of this server, each has a position in the sequence of the
 * session's tokens, so the same rules for rotation and reuse apply.
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
 * Encrypts the keys of imported sessions. Its key is derived from the key of the refresh tokens,
 * because both are needed equally long: until every session has been refreshed.
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

/** Undefined when the server key was retired, which ends sessions with tokens of either server. */
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
const minBytes = counterAt + 1 + signatureBytes + checksumBytes
/** The counter takes one to nine bytes. */
const maxBytes = minBytes + 8
/** The database stores counters as `integer`. */
const maxCounter = 2 ** 31 - 1

/** Layout: version, session ID, counter as a variable-length integer, signature, checksum. */
function parseSignedToken(text: string): SignedToken | undefined {
  if (!/^[\w-]{51,62}$/.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length < minBytes || bytes.length > maxBytes || bytes[0] !== 0) return undefined
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
  return bytes.length > 0 && counter <= maxCounter ? counter : undefined
}

function hasSignature({ signedBytes, signature }: SignedToken, key: Buffer): boolean {
  const hash = createHmac('sha256', key).update(signedBytes).digest()
  return timingSafeEqual(hash.subarray(0, signatureBytes), signature)
}

/** Stored tokens have 12 characters; until 2025 they had 22. */
function isStoredToken(text: string): boolean {
  return /^(?:[a-z2-7]{12}|[\w-]{22})$/.test(text)
}

/** The import computes the same hash with the function `sha256` of PostgreSQL. */
function hashStoredToken(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
