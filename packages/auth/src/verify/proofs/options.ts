/** Accepts access tokens that are bound to a key of their client (DPoP, RFC 9449). */
export interface ProofOptions {
  /**
   * The URL of the API as its clients see it, such as `https://api.example.com`. The path of a request is added to it. It is
   * compared with the proof, so that a proof for another server is refused.
   */
  readonly url: string | URL
  /** How old a proof may be in seconds. Default: 60. */
  readonly maxAgeSeconds?: number | undefined
  /**
   * Records the use of a proof, and returns whether it is the first one. Use a database that all processes of the API share,
   * such as Redis with `SET key 1 NX EXAT seconds`. Default: each process remembers the newest 200,000 proofs.
   */
  readonly claim?:
    | ((id: string, expiresAtSeconds: number) => boolean | Promise<boolean>)
    | undefined
}

/** What the verifier needs of a request. */
export interface ReceivedRequest {
  /** The header `Authorization`. */
  readonly authorization: string | null | undefined
  /** The header `DPoP`. */
  readonly dpop?: string | null | undefined
  /** Default: the token must not be bound to a key. */
  readonly method?: string | undefined
  /** The URL, or only its path. Default: the token must not be bound to a key. */
  readonly url?: string | undefined
}
