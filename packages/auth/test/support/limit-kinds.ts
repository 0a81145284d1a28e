import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import { createLog } from '@portcullis/service-kit/log/log'
import { open } from '@portcullis/test-servers'
import { createClient } from '@redis/client'
import { parseConfig } from '../../src/config/config.ts'
import { createBuckets } from '../../src/limits/buckets.ts'
import {
  type LimiterName,
  type LimitTable,
  limiterNames,
  type RequestLimit,
  type RequestLimits,
} from '../../src/limits/request-limits.ts'
import { openRequestLimits } from '../../src/limits/shared/index.ts'
import { testEnvironment } from './auth-server.ts'
import { openRateLimitService } from './rate-limit-service.ts'

/** The request limits of one server process. */
export interface OpenLimits extends RequestLimits {
  /** The log output. */
  readonly log: readonly string[]
}

/** A place where requests are counted. */
export interface LimitPlace {
  openLimits(): Promise<OpenLimits>
  /** Whether the counts can be cleared. */
  readonly canClear: boolean
  /** Advances the time of the counts. */
  advance(ms: number): Promise<void>
  /** The external store, if there is one. */
  readonly store?: { kill(): Promise<void>; restart(): Promise<void> }
}

export type OpenLimitPlace = (t: TestContext) => Promise<LimitPlace | undefined>

/** Three requests at once, and one more every 100 seconds. */
const three = { most: 3, periodMs: 300_000, burst: 3 }

const contractLimits = toLimits({ verify: three, otp: three })

export function toLimits(some: Partial<Record<LimiterName, RequestLimit>>): LimitTable {
  const all = limiterNames.map((name) => [name, some[name]] as const)
  return Object.fromEntries(all) as LimitTable
}

export interface LimitsOptions {
  /** Milliseconds since the epoch. */
  readonly now?: () => number
  readonly limits?: LimitTable
  /** The timeout for a response; the default is long enough for a busy machine. */
  readonly timeout?: string
}

/** Opens limits from a configuration, like the server. */
export async function openLimits(
  t: TestContext,
  url: string,
  { now = Date.now, limits = contractLimits, timeout = '5s' }: LimitsOptions = {},
): Promise<OpenLimits> {
  const { config, faults } = parseConfig({
    ...testEnvironment,
    DATABASE_URL: 'postgres://unused.example/auth',
    AUTH_RATE_LIMIT_SERVICE_URL: url,
    AUTH_RATE_LIMIT_SERVICE_TIMEOUT: timeout,
  })
  if (faults.length > 0) throw new Error(JSON.stringify(faults))
  const log: string[] = []
  const opened = await openRequestLimits({
    config: config.limits,
    limits,
    own: createBuckets(limits, now),
    log: createLog({ level: 'warning', format: 'text', write: (line) => log.push(line) }),
    now,
  })
  t.after(() => opened[Symbol.asyncDispose]())
  return { ...opened, log }
}

export const limitPlaces: Readonly<Record<string, OpenLimitPlace>> = {
  async 'in the process'(t) {
    const clock = { nowMs: Date.now() }
    return {
      canClear: true,
      openLimits: () => openLimits(t, '', { now: () => clock.nowMs }),
      async advance(ms) {
        clock.nowMs += ms
      },
    }
  },

  async 'in Redis'(t) {
    const redis = await open(t, 'redis', { password: 'p@ss word' })
    if (!redis) return undefined
    const url = `${redis.url}/3?prefix=test:${randomUUID()}:`
    return {
      canClear: true,
      openLimits: () => openLimits(t, url),
      // Redis has its own clock, so the stored times are moved back instead.
      async advance(ms) {
        const client = createClient({ url: `${redis.url}/3` })
        await client.connect()
        for (const key of await client.keys('*')) await client.hIncrBy(key, 'at', -ms)
        client.destroy()
      },
      store: redis,
    }
  },

  async 'in a rate limit service'(t) {
    await untilNoHourEnds()
    const service = await openRateLimitService(t, 'domain: auth\n')
    // Start some minutes after the full hour.
    const clock = { nowMs: Math.floor(Date.now() / 3_600_000) * 3_600_000 + 400_000 }
    return {
      canClear: false,
      openLimits: () => openLimits(t, `grpc://${service.address}`, { now: () => clock.nowMs }),
      async advance(ms) {
        clock.nowMs += ms
      },
      store: service,
    }
  },
}

/** The service has its own clock, and its counts start again every hour. */
async function untilNoHourEnds(): Promise<void> {
  while (Date.now() % 3_600_000 > 3_540_000) await new Promise((done) => setTimeout(done, 100))
}
