import assert from 'node:assert/strict'

const reuseIntervalMs = 10_000

/** A refresh token and its history, as the model sees it. */
export interface Token {
  readonly text: string
  readonly level: 'aal1' | 'aal2'
  readonly issuedBy: 'sign-in' | 'refresh' | 'raise'
  /** When it was issued; the clock only moves between requests. */
  readonly atMs: number
  /** The token that replaced it. */
  child?: Token
  /** Whether a refresh has used it. */
  isUsed: boolean
}

export type Expected =
  | { readonly outcome: 'new' }
  | { readonly outcome: 'again'; readonly token: Token; readonly level: Token['level'] }
  | { readonly outcome: 'ends' }
  | { readonly outcome: 'ended' }

/**
 * The rules without the counters that implement them: a token that was replaced is accepted as long
 * as its direct successor has not been used, and never gives a higher level than it had itself. Any
 * other use of a replaced token ends the session.
 */
export class RefreshModel {
  current: Token
  isEnded = false
  readonly tokens: Token[]
  readonly #hasGrace: boolean

  constructor(first: string, atMs: number, hasGrace: boolean) {
    this.current = { text: first, level: 'aal1', issuedBy: 'sign-in', atMs, isUsed: false }
    this.tokens = [this.current]
    this.#hasGrace = hasGrace
  }

  expect(token: Token, nowMs: number): Expected {
    if (this.isEnded) return { outcome: 'ended' }
    if (token === this.current) return { outcome: 'new' }
    const { child } = token
    if (child === undefined || child.isUsed) return { outcome: 'ends' }
    const isCurrent = child === this.current
    if (!this.#hasGrace) {
      const isInTime = child.issuedBy === 'refresh' && nowMs <= child.atMs + reuseIntervalMs
      if (!isCurrent || !isInTime) return { outcome: 'ends' }
      return { outcome: 'again', token: child, level: child.level }
    }
    // The response of a verification was lost: the client continues with what it had before.
    if (child.issuedBy === 'raise') return { outcome: 'again', token, level: 'aal1' }
    if (isCurrent) return { outcome: 'again', token: child, level: child.level }
    // The unused successor was replaced by a verification, whose token must be unused as well.
    const raised = child.child
    if (raised === undefined || raised.isUsed) return { outcome: 'ends' }
    return { outcome: 'again', token: child, level: 'aal1' }
  }

  rotate(text: string, atMs: number): void {
    this.current.isUsed = true
    this.#replace({ text, level: this.current.level, issuedBy: 'refresh', atMs, isUsed: false })
  }

  /** A verified factor replaces a token of aal1, and leaves one of aal2 as it is. */
  raise(text: string, atMs: number): void {
    if (this.current.level === 'aal2') return assert.equal(text, this.current.text)
    this.#replace({ text, level: 'aal2', issuedBy: 'raise', atMs, isUsed: false })
  }

  #replace(next: Token): void {
    this.current.child = next
    this.current = next
    this.tokens.push(next)
  }
}
