/** Tokens that were verified before, with their claims. */
export interface VerifiedTokens<Claims> {
  get(token: string): Claims | undefined
  add(token: string, claims: Claims): void
}

/** The two limits keep the memory below about 10 MB. */
const mostTokens = 1_000
const longestCharacters = 4_096

/**
 * Remembers verified tokens, because clients send the same token until it expires. Only the signer
 * that verified them knows them, so they are forgotten when keys or issuers change. What depends on
 * the time or on the database is still checked for every request.
 */
export function createVerifiedTokens<Claims>(): VerifiedTokens<Claims> {
  const known = new Map<string, Claims>()
  return {
    get: (token) => known.get(token),
    add(token, claims) {
      if (token.length > longestCharacters || known.has(token)) return
      // A map keeps the order of insertion, so the first token is the oldest.
      const [oldest] = known.keys()
      if (oldest !== undefined && known.size >= mostTokens) known.delete(oldest)
      known.set(token, claims)
    },
  }
}
