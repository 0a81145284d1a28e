import type { JSONWebKeySet } from 'jose'

/** Options of `createVerifier`. One of `authUrl`, `secret` and `jwks` is required. */
export interface VerifierOptions {
  /** The address of the auth server, whose public keys are fetched and cached. */
  readonly authUrl?: string | URL | undefined
  /** The secret that signs tokens (`AUTH_JWT_SECRET`), for an auth server without key pairs. */
  readonly secret?: string | undefined
  /** The public keys themselves, for programs that must not call the auth server. */
  readonly jwks?: JSONWebKeySet | undefined
  /**
   * `aud` must be or contain one of these; `authenticated` by default. An auth server without
   * `AUTH_JWT_AUD` issues tokens for the audience `''`.
   */
  readonly audience?: string | readonly string[] | undefined
  /** `iss` must be this. By default it is not checked, since auth servers need not set it. */
  readonly issuer?: string | undefined
  /** `role` must be one of these. By default it is not checked. */
  readonly roles?: readonly string[] | undefined
  /** `aal2`: only tokens of users who have shown a second factor. */
  readonly aal?: 'aal1' | 'aal2' | undefined
  /** By how many seconds clocks may differ; 5 by default. */
  readonly clockToleranceSeconds?: number | undefined
  /** The current time in milliseconds, for tests. */
  readonly now?: (() => number) | undefined
}
