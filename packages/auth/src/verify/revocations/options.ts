/** How a verifier learns of sign-outs, bans and deletions. */
export interface RevocationOptions {
  /**
   * A token that may read `GET /revocations` of the auth server: one with the role
   * `token_verifier`, or a service key. A function is called for each connection, so that it can
   * return a token that expires soon.
   */
  readonly key: string | (() => string | Promise<string>)
  /** The address of the auth server. Default: `authUrl` of the verifier. */
  readonly authUrl?: string | URL | undefined
  /**
   * What happens to tokens while the auth server cannot be reached, so that revoked tokens are
   * unknown. `refuse` throws an `AuthUnavailableError`, to which `toRefusal` responds with 503.
   * `allow` accepts every token until it expires. Default: `refuse`.
   */
  readonly ifUnavailable?: 'refuse' | 'allow' | undefined
  /**
   * How long the auth server may be silent until it counts as unavailable, in seconds. It sends an
   * event every second. Default: 5.
   */
  readonly maxSilenceSeconds?: number | undefined
  /**
   * Called when the auth server becomes unavailable, with the reason. Default: `console.warn`;
   * `false` turns it off.
   */
  readonly warn?: ((message: string) => void) | false | undefined
}

/** The state of the connection to the auth server, for metrics. */
export interface RevocationState {
  /** Whether all revocations are known. */
  readonly isCurrent: boolean
  /** The number of sessions and users whose tokens are refused. Entries are removed when their tokens have expired. */
  readonly entries: number
  /** The number of tokens that were refused because they had been revoked. */
  readonly refused: number
  /** How often the connection was opened. */
  readonly connections: number
  /** Milliseconds since the auth server has sent an event; undefined before the first one. */
  readonly silenceMs: number | undefined
}
