import { availableParallelism } from 'node:os'
import type { Lifecycle } from '@portcullis/service-kit/lifecycle'
import type { Log } from '@portcullis/service-kit/log'
import type { LimitsConfig } from './config/limits.ts'
import type { Config } from './config.ts'
import { createBuckets } from './core/buckets.ts'
import { openCleanup } from './core/cleanup.ts'
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
import { openDatabase } from './db/database.ts'
import { loadServerKey } from './db/server-keys.ts'
import { endpoints } from './endpoints/index.ts'
import { createServer } from './http/server.ts'
import { openMessages } from './messages/open-messages.ts'
import { createMailPlanner } from './messages/plan-mail.ts'

export interface AppSettings {
  readonly config: Config
  readonly version: string
  /** Of a PostgreSQL that runs, with its tables in place. */
  readonly databaseUrl: string
  /** What PostgreSQL allows, where we know it. */
  readonly maxConnections?: number
  readonly log: Log
  readonly lifecycle: Lifecycle
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Hears of every statement: tests count them. */
  readonly onStatement?: (name: string) => void
}

export interface App {
  /** `http://host:port` */
  readonly url: string
}

/** Builds everything and knows everything. */
export async function openApp(settings: AppSettings): Promise<App> {
  const { config, log, lifecycle } = settings
  const db = lifecycle.own(
    'database',
    openDatabase({
      url: settings.databaseUrl,
      schema: config.database.namespace,
      maxPoolSize: config.database.maxPoolSize ?? settings.maxConnections,
      idleTimeoutMs: config.database.idleTimeoutMs,
      log,
      ...(settings.onStatement && { onStatement: settings.onStatement }),
    }),
  )
  const messages = lifecycle.own('messages', openMessages({ config, db, log }))
  if (config.database.cleansUp) {
    lifecycle.own(
      'cleanup',
      openCleanup({ db, log, now: settings.now, linkSeconds: config.mail.otpExpiresInSeconds }),
    )
  }
  const services = await createServices({
    ...settings,
    db,
    wakeMessages: () => messages.notify(),
  })
  const server = createServer({ endpoints, services, log })
  lifecycle.drain('HTTP listener', () => server.close())
  lifecycle.drain('messages', (expired) => messages.drain(expired))
  const url = await server.listen({
    port: config.api.port,
    host: config.api.host ?? '0.0.0.0',
  })
  log.info(`Listening on ${url}, version ${settings.version}`)
  return { url }
}

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
    passwords: await createPasswords(hashing),
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
