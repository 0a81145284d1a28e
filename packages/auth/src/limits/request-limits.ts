/** A request limit: a number of requests per period, with a burst. */
export interface RequestLimit {
  readonly most: number
  readonly periodMs: number
  readonly burst: number
}

export const limiterNames = [
  'token',
  'verify',
  'signup',
  'otp',
  'magiclink',
  'recover',
  'resend',
  'user',
  'anonymous',
  'mfa',
  'passkey',
  'web3',
  'api_key_verify',
  'api_key_guess',
  'oauth_register',
  'authorize',
  'callback',
  'sso',
  'saml',
  'password',
  'password_account',
  'codes',
  'taken',
] as const
export type LimiterName = (typeof limiterNames)[number]

/** Undefined: the limit is off. */
export type LimitTable = Readonly<Record<LimiterName, RequestLimit | undefined>>

/** How many requests a limit still allows. */
export interface RemainingRequests {
  /** An integer, or infinity if the limit is off. */
  readonly left: number
  /** Seconds until a further request is allowed; 0 if one is allowed now. */
  readonly waitSeconds: number
}

export interface RequestLimits {
  /** Counts one request. @returns the seconds to wait; undefined if it is allowed. */
  take(limiter: LimiterName, key: string): Promise<number | undefined> | number | undefined
  /** Reads the limit without counting. */
  peek(limiter: LimiterName, key: string): Promise<RemainingRequests> | RemainingRequests
  /** Resets the count of a key. */
  clear(limiter: LimiterName, key: string): Promise<void> | void
}
