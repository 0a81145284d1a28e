import { availableParallelism } from 'node:os'
import type { LimitsConfig } from './config/limits.ts'
import { createBuckets } from './core/buckets.ts'
import { createHashQueue } from './core/hash-queue.ts'
import { createTokenSigner } from './core/json-web-token.ts'
import { createOneTimeTokens } from './core/one-time-tokens.ts'
import { createPasswords } from './core/passwords.ts'
import { createRedirects } from './core/redirects.ts'
import { createRefreshTokens } from './core/refresh-tokens.ts'
import type { LimiterName, RequestLimit } from './core/request-limits.ts'
import type { Services } from './core/services.ts'
import { createSessions } from './core/sessions.ts'
import { createSigningKeys } from './core/signing-keys.ts'
import { loadServerKey } from './db/server-keys.ts'
import { createMailPlanner } from './messages/plan-mail.ts'

type ServicesSettings = Pick<Services, 'config' | 'version' | 'db' | 'wakeMessages' | 'now'>

/** What endpoints work with, and commands that do the same. */
export async function createServices(settings: ServicesSettings): Promise<Services> {
  const { config, version, db, wakeMessages, now } = settings
  const { tokens, site } = config
  const signingKeys = createSigningKeys(tokens)
  const signer = createTokenSigner(signingKeys)
  const oneTimeTokens = createOneTimeTokens(await loadServerKey(db, 'one_time_tokens'))
  const hashing = createHashQueue({ atOnce: availableParallelism(), mostWaiting: 200 })
  return {
    config,
    version,
    db,
    signer,
    signingKeys,
    sessions: createSessions({
      db,
      signer,
      refreshTokens: createRefreshTokens(await loadServerKey(db, 'refresh_tokens')),
      settings: { ...tokens, ...tokens.sessions },
      now,
    }),
    passwords: createPasswords(hashing),
    passwordPolicy: { minLength: site.passwordMinLength, requiredSets: site.passwordRequiredSets },
    oneTimeTokens,
    mail: createMailPlanner({ config: config.mail, siteUrl: site.url, oneTimeTokens, now }),
    wakeMessages,
    redirects: createRedirects({
      siteUrl: site.url,
      allowList: site.uriAllowList,
      isStrict: site.strictRedirects,
    }),
    requestLimits: createBuckets(toRequestLimits(config.limits), now),
    now,
  }
}

/** Reference 8.1. */
function toRequestLimits(limits: LimitsConfig): Readonly<Record<LimiterName, RequestLimit>> {
  const inFiveMinutes = (most: number) => ({ most, periodMs: 300_000, burst: Math.min(30, most) })
  const otp = inFiveMinutes(limits.otp)
  return {
    token: inFiveMinutes(limits.token),
    verify: inFiveMinutes(limits.verify),
    signup: otp,
    otp,
    magiclink: otp,
    recover: otp,
    resend: otp,
    user: otp,
    anonymous: { most: limits.anonymous, periodMs: 3_600_000, burst: limits.anonymous },
  }
}
