import { setTimeout } from 'node:timers/promises'
import { toReason } from '@portcullis/service-kit/text/reason'
import {
  ClientOfflineError,
  type CommandParser,
  createClient,
  createCluster,
  createSentinel,
  defineScript,
} from '@redis/client'
import type { RedisService } from '../../config/limits/service-address.ts'
import type { RequestLimit } from '../request-limits.ts'
import type { LimitService } from './limit-service.ts'

/**
 * Token buckets in Redis, one key each. They use the clock of Redis, so the clocks of the processes
 * do not matter.
 */
export function openRedisLimits(service: RedisService): LimitService {
  let reason = 'not connected yet'
  const firstError = Promise.withResolvers<never>()
  firstError.promise.catch(() => {})
  const onError = (error: unknown) => {
    reason = toReason(error)
    firstError.reject(new Error(reason, { cause: error }))
  }
  const open = () => createRedisClient(service, onError)
  let client = open()
  const toName = (limiter: string, key: string) => `${service.prefix}${limiter}:${key}`
  /** Replaces the error that the client is offline by the reason for it. */
  const explained = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work()
    } catch (error) {
      throw error instanceof ClientOfflineError ? new Error(reason, { cause: error }) : error
    }
  }
  return {
    connect: () => Promise.race([client.connect(), firstError.promise]),
    async take(limiter, key, limit) {
      const waitSeconds = await explained(() => client.takeToken(toName(limiter, key), limit))
      return waitSeconds || undefined
    },
    async peek(limiter, key, limit) {
      const [left, waitSeconds] = await explained(() =>
        client.peekTokens(toName(limiter, key), limit),
      )
      return { left, waitSeconds }
    },
    clear: (limiter, key) => explained(() => client.forget(toName(limiter, key))),
    drop() {
      client.close()
      client = open()
      client.connect().catch(onError)
    },
    async [Symbol.asyncDispose]() {
      client.close()
    },
  }
}

/** The start of both scripts: sets `tokens` to the number of tokens at the time `now`. */
const readTokens = `
local most, period, burst = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens, at = tonumber(bucket[1]) or burst, tonumber(bucket[2]) or now
tokens = math.min(burst, tokens + math.max(0, now - at) * most / period)
`

/**
 * The bucket of `limits/buckets.ts` as one atomic Redis script: returns 0 if a token was taken,
 * otherwise the seconds until there is one. The key expires when the bucket is full again.
 */
const tokenBucket = defineScript({
  SCRIPT: `${readTokens}local wait = 0
if tokens < 1 then
  wait = math.max(1, math.ceil((1 - tokens) * period / most / 1000))
else
  tokens = tokens - 1
end
redis.call('HSET', KEYS[1], 'tokens', string.format('%.17g', tokens), 'at', string.format('%d', now))
redis.call('PEXPIRE', KEYS[1], math.ceil((burst - tokens) * period / most) + 1000)
return wait
`,
  NUMBER_OF_KEYS: 1,
  parseCommand: pushLimit,
  transformReply: (reply: unknown) => Number(reply),
})

/** The same bucket, read-only: the number of tokens, and the seconds until there is one. */
const tokensLeft = defineScript({
  SCRIPT: `${readTokens}if tokens < 1 then
  return {0, math.max(1, math.ceil((1 - tokens) * period / most / 1000))}
end
return {math.floor(tokens), 0}
`,
  NUMBER_OF_KEYS: 1,
  IS_READ_ONLY: true,
  parseCommand: pushLimit,
  transformReply(reply: unknown): readonly [number, number] {
    const [left, wait] = Array.isArray(reply) ? reply : []
    return [Number(left), Number(wait)]
  },
})

function pushLimit(
  parser: CommandParser,
  key: string,
  { most, periodMs, burst }: RequestLimit,
): void {
  parser.pushKey(key)
  parser.push(`${most}`, `${periodMs}`, `${burst}`)
}

/** The operations that are needed from any kind of Redis deployment. */
interface RedisClient {
  connect(): Promise<void>
  takeToken(key: string, limit: RequestLimit): Promise<number>
  /** The number of tokens left, and the seconds until there is one. */
  peekTokens(key: string, limit: RequestLimit): Promise<readonly [number, number]>
  forget(key: string): Promise<void>
  close(): void
}

/** What the clients of all kinds of deployments have in common. */
interface Commands extends Pick<RedisClient, 'takeToken' | 'peekTokens'> {
  del(key: string): Promise<number>
}

function toCommands(client: Commands): Pick<RedisClient, 'takeToken' | 'peekTokens' | 'forget'> {
  return {
    takeToken: (key, limit) => client.takeToken(key, limit),
    peekTokens: (key, limit) => client.peekTokens(key, limit),
    forget: async (key) => void (await client.del(key)),
  }
}

type OnError = (error: unknown) => void

function createRedisClient(service: RedisService, onError: OnError): RedisClient {
  return shapes[service.shape](service, onError)
}

const scripts = { takeToken: tokenBucket, peekTokens: tokensLeft } as const

/** Old servers support only RESP2, which is sufficient for numbers. */
const RESP = 2

const shapes: Readonly<
  Record<RedisService['shape'], (service: RedisService, onError: OnError) => RedisClient>
> = {
  single(service, onError) {
    const [first] = service.hosts
    const options = toConnection(service)
    const client = createClient({
      ...options,
      socket: { ...options.socket, ...first },
      database: service.database,
      scripts,
      RESP,
    })
    client.on('error', onError)
    return {
      connect: async () => void (await client.connect()),
      ...toCommands(client),
      close: () => client.destroy(),
    }
  },

  cluster(service, onError) {
    const options = toConnection(service)
    const cluster = createCluster({
      rootNodes: service.hosts.map((host) => ({ socket: host })),
      defaults: options,
      scripts,
      RESP,
    })
    cluster.on('error', onError)
    cluster.on('node-error', onError)
    let isClosed = false
    const connect = async () => void (await cluster.connect())
    return {
      connect: createRetry(connect, onError, () => isClosed),
      ...toCommands(cluster),
      close() {
        isClosed = true
        cluster.destroy()
      },
    }
  },

  sentinel(service, onError) {
    const options = toConnection(service)
    const sentinel = createSentinel({
      name: service.primaryName,
      sentinelRootNodes: [...service.hosts],
      nodeClientOptions: { ...options, database: service.database },
      sentinelClientOptions: { socket: options.socket },
      passthroughClientErrorEvents: true,
      scripts,
      RESP,
    })
    sentinel.on('error', onError)
    sentinel.on('client-error', (event: { readonly error?: unknown }) => onError(event.error))
    let isClosed = false
    const connect = async () => void (await sentinel.connect())
    return {
      connect: createRetry(connect, onError, () => isClosed),
      ...toCommands(sentinel),
      close() {
        isClosed = true
        sentinel.destroy().catch(onError)
      },
    }
  },
}

/** Long enough for a busy Redis, and short enough to detect an unreachable machine soon. */
const silenceMs = 5_000

function toConnection({ isEncrypted, username, password }: RedisService) {
  const reconnect = {
    connectTimeout: silenceMs,
    socketTimeout: silenceMs,
    reconnectStrategy: (retries: number) => Math.min(1_000, 50 * 2 ** Math.min(retries, 10)),
  }
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    socket: isEncrypted ? { tls: true as const, ...reconnect } : reconnect,
    // Prevents `socketTimeout` from closing an idle connection.
    pingInterval: 2_000,
    // Without a connection, requests fail immediately, and the process counts by itself.
    disableOfflineQueue: true,
    disableClientInfo: true,
  }
}

/**
 * Unlike the client for one server, those for clusters and sentinels give up after the first failed
 * attempt.
 */
function createRetry(connect: () => Promise<void>, onError: OnError, isClosed: () => boolean) {
  return async () => {
    while (!isClosed()) {
      try {
        return await connect()
      } catch (error) {
        onError(error)
        await setTimeout(1_000, undefined, { ref: false })
      }
    }
  }
}
