import { createHmac, hash, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { KeyRing } from '../../tokens/key-ring.ts'

/**
 * A refresh token contains its session and its position in the sequence of the session's tokens,
 * and a keyed hash that proves that this server issued it. Tokens are therefore not stored: the
 * session has the counter of the valid one, and any token can be derived again.
 *
 * Layout: version, session ID, counter, 16 bytes of the hash, 4 bytes of checksum.
 */
export interface RefreshToken {
  readonly sessionId: string
  readonly counter: number
}

const version = 0
const idAt = 1
const counterAt = 17
const hashAt = 21
const checksumAt = 37
const tokenBytes = 41

export interface RefreshTokens {
  encode(token: RefreshToken): string
  /** Undefined when this server did not issue the token. */
  decode(text: string): RefreshToken | undefined
}

/** @param keys shared by all processes of a database. */
export function createRefreshTokens(keys: KeyRing): RefreshTokens {
  const toHash = (key: KeyObject, bytes: Buffer) =>
    createHmac('sha256', key).update(bytes.subarray(0, hashAt)).digest().subarray(0, 16)
  return {
    encode({ sessionId, counter }) {
      const bytes = Buffer.alloc(tokenBytes)
      bytes[0] = version
      bytes.write(sessionId.replaceAll('-', ''), idAt, 'hex')
      bytes.writeUInt32BE(counter, counterAt)
      toHash(keys.current(), bytes).copy(bytes, hashAt)
      toChecksum(bytes).copy(bytes, checksumAt, 0, 4)
      return bytes.toString('base64url')
    },
    decode(text) {
      if (!/^[\w-]{55}$/.test(text)) return undefined
      const bytes = Buffer.from(text, 'base64url')
      if (bytes.length !== tokenBytes || bytes[0] !== version) return undefined
      const proof = bytes.subarray(hashAt, checksumAt)
      if (!keys.all().some((key) => timingSafeEqual(toHash(key, bytes), proof))) return undefined
      if (!toChecksum(bytes).subarray(0, 4).equals(bytes.subarray(checksumAt))) return undefined
      return {
        sessionId: toUuid(bytes.toString('hex', idAt, counterAt)),
        counter: bytes.readUInt32BE(counterAt),
      }
    },
  }
}

/** Lets secret scanners recognise a token without the key. */
function toChecksum(bytes: Buffer): Buffer {
  return hash('sha256', bytes.subarray(0, checksumAt), 'buffer')
}

export function toUuid(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
