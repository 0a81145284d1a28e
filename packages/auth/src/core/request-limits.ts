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
] as const
export type LimiterName = (typeof limiterNames)[number]

export interface RequestLimits {
  /** How many seconds to wait; undefined: it may pass. */
  take(limiter: LimiterName, key: string): Promise<number | undefined> | number | undefined
}
