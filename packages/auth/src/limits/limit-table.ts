import type { Config } from '../config/config.ts'
import type { LimiterName, LimitTable, RequestLimit } from './request-limits.ts'

/** A default limit and its burst. */
interface DefaultLimit {
  readonly most: number
  readonly periodMs: number
  readonly burst: number
}

const minute = 60_000
const fiveMinutes = 5 * minute

const defaults = {
  token: { most: 150, periodMs: fiveMinutes, burst: 30 },
  requests: { most: 30, periodMs: fiveMinutes, burst: 30 },
  assertions: { most: 15, periodMs: fiveMinutes, burst: 30 },
  apiKeys: { most: 30_000, periodMs: fiveMinutes, burst: 3_000 },
  register: { most: 10, periodMs: fiveMinutes, burst: 30 },
  anonymous: { most: 30, periodMs: 60 * minute, burst: 30 },
  mfa: { most: 15, periodMs: minute, burst: 30 },
  password: { most: 10, periodMs: 15 * minute, burst: 10 },
  taken: { most: 5, periodMs: 60 * minute, burst: 5 },
  passwordAccount: { most: 100, periodMs: 60 * minute, burst: 100 },
} as const satisfies Record<string, DefaultLimit>

export function toLimitTable({
  limits,
  mfa,
  saml,
}: Pick<Config, 'limits' | 'mfa' | 'saml'>): LimitTable {
  const otp = toLimit(defaults.requests, limits.otp)
  // An external sign-in has the defaults of /token.
  const external = toLimit(defaults.token, limits.external)
  return {
    token: toLimit(defaults.token, limits.token),
    verify: toLimit(defaults.requests, limits.verify),
    signup: otp,
    otp,
    magiclink: otp,
    recover: otp,
    resend: otp,
    user: otp,
    passkey: toLimit(defaults.requests, limits.passkey),
    web3: toLimit(defaults.requests, limits.web3),
    api_key_verify: toLimit(defaults.apiKeys, limits.apiKeyVerify),
    api_key_guess: toLimit(defaults.requests, limits.apiKeyGuess),
    oauth_register: toLimit(defaults.register, limits.register),
    authorize: external,
    callback: external,
    sso: toLimit(defaults.requests, saml.starts),
    saml: toLimit(defaults.assertions, saml.assertions),
    anonymous: toLimit(defaults.anonymous, limits.anonymous),
    mfa: toLimit(defaults.mfa, mfa.requestsPerMinute),
    password: toLimit(defaults.password, limits.password),
    password_account: toLimit(defaults.passwordAccount, limits.passwordAccount),
    codes: toDailyLimit(limits.codes),
    taken: toLimit(defaults.taken, limits.taken),
  }
}

/**
 * Allows at most this many in any 24 hours: half of them at once, and the other half over the day.
 * @param most 0: the limit is off.
 */
function toDailyLimit(most: number): RequestLimit | undefined {
  if (most === 0) return undefined
  const burst = Math.ceil(most / 2)
  return { most: Math.max(1, most - burst), periodMs: 24 * 60 * minute, burst }
}

/**
 * Above the default rate, the burst grows in proportion to the rate, because an operator who sets a
 * very high rate expects that bursts are allowed too. Below it, the default burst is kept as long
 * as a period allows that many requests.
 * @param most 0: the limit is off.
 */
function toLimit({ most: defaultMost, periodMs, burst }: DefaultLimit, most: number) {
  if (most === 0) return undefined
  const proportional = (burst * most) / defaultMost
  const perSecond = (most * 1_000) / periodMs
  const smallest = Math.min(burst, Math.max(most, proportional))
  const limit: RequestLimit = {
    most,
    periodMs,
    burst: Math.ceil(Math.max(smallest, proportional, perSecond, 1)),
  }
  return limit
}

interface AdjustableTable {
  /** Always has the current limits. */
  readonly limits: LimitTable
  /** Replaces all limits. Requests that were counted before stay counted. */
  set(limits: LimitTable): void
}

export function createAdjustableTable(limits: LimitTable): AdjustableTable {
  const current: Record<LimiterName, RequestLimit | undefined> = { ...limits }
  return {
    limits: current,
    set(next) {
      Object.assign(current, next)
    },
  }
}
