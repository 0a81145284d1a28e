import type { JWTPayload } from 'jose'

/** An entry of `GET /revocations`. */
export interface Revocation {
  readonly kind: string
  /** The session or user; undefined for everyone. */
  readonly id?: string
  /** In seconds since 1970; undefined: every token. */
  readonly until?: number
}

interface Entry {
  readonly until: number
  readonly endsMs: number
}

/** Which tokens have been revoked. An entry is removed when all tokens that it concerns have expired. */
export class RevocationList {
  /** Entries by kind and ID, in the order in which they are removed. */
  readonly #entries = new Map<string, Entry>()
  /** How long an entry is kept; undefined before the auth server has sent it. */
  keptMs: number | undefined

  get size(): number {
    return this.#entries.size
  }

  add(revocations: readonly Revocation[], nowMs: number): void {
    const endsMs = nowMs + (this.keptMs ?? 0)
    for (const { kind, id = '', until = Number.POSITIVE_INFINITY } of revocations) {
      const key = toKey(kind, id)
      const known = this.#entries.get(key)
      this.#entries.delete(key)
      // The last entry of a user counts, because a ban may be lifted. All others only ever add tokens.
      const latest = kind === 'user' ? until : Math.max(until, known?.until ?? 0)
      this.#entries.set(key, { until: latest, endsMs })
    }
    this.#removeExpired(nowMs)
  }

  isRevoked(claims: JWTPayload): boolean {
    const { sub, iat = 0, session_id: sessionId, key_id: keyId } = claims
    const isUntil = (key: string, seconds: number) => {
      const entry = this.#entries.get(key)
      return entry !== undefined && seconds <= entry.until
    }
    return (
      (typeof sessionId === 'string' && isUntil(toKey('session', sessionId), iat)) ||
      (typeof keyId === 'string' && isUntil(toKey('key', keyId), iat)) ||
      isUntil(toKey('user', sub ?? ''), iat) ||
      isUntil(toKey('everyone', ''), toSignInTime(claims))
    )
  }

  #removeExpired(nowMs: number): void {
    for (const [key, { endsMs }] of this.#entries) {
      if (endsMs > nowMs) return
      this.#entries.delete(key)
    }
  }
}

function toKey(kind: string, id: string): string {
  return `${kind} ${id.toLowerCase()}`
}

/** When the session was opened, in seconds; a later refresh does not change it. */
function toSignInTime({ iat = 0, amr }: JWTPayload): number {
  const times = (Array.isArray(amr) ? amr : []).map((method) => method?.timestamp)
  return Math.min(iat, ...times.filter((time) => typeof time === 'number'))
}
