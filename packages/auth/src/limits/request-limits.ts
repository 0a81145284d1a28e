/** The request limits of reference 8.1: so many, refilled over a time, with a burst. */
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
  'authorize',
  'callback',
  'password',
  'password_account',
  'codes',
  'taken',
] as const
export type LimiterName = (typeof limiterNames)[number]

/** Undefined: the limit is off. */
export type LimitTable = Readonly<Record<LimiterName, RequestLimit | undefined>>

/** What a limit still allows. */
export interface Room {
  /** A whole number, or infinity where the limit is off. */
  readonly left: number
  /** Until one more is allowed; 0 where one is. */
  readonly waitSeconds: number
}

export interface RequestLimits {
  /** Counts one. @returns how many seconds to wait; undefined: it is allowed. */
  take(limiter: LimiterName, key: string): Promise<number | undefined> | number | undefined
  /** Counts nothing. */
  peek(limiter: LimiterName, key: string): Promise<Room> | Room
  /** Forgets what was counted for a key. */
  clear(limiter: LimiterName, key: string): Promise<void> | void
}
