import { setTimeout } from 'node:timers/promises'
import { createClient, createCluster, createSentinel } from '@redis/client'
import type { RedisService } from '../../config/limit-service.ts'
import type { RequestLimit } from '../request-limits.ts'
import { tokenBucket, tokensLeft } from './token-bucket.ts'

/** The little that all kinds of Redis do for us. */
export interface RedisClient {
  connect(): Promise<void>
  takeToken(key: string, limit: RequestLimit): Promise<number>
  /** How many are left, and the seconds until there is one. */
  peekTokens(key: string, limit: RequestLimit): Promise<readonly [number, number]>
  forget(key: string): Promise<void>
  close(): void
}

type OnError = (error: unknown) => void

export function createRedisClient(service: RedisService, onError: OnError): RedisClient {
  return shapes[service.shape](service, onError)
}

const scripts = { takeToken: tokenBucket, peekTokens: tokensLeft } as const

/** Old servers know no other protocol, and one number is the same in all. */
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
      takeToken: (key, limit) => client.takeToken(key, limit),
      peekTokens: (key, limit) => client.peekTokens(key, limit),
      forget: async (key) => void (await client.del(key)),
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
      takeToken: (key, limit) => cluster.takeToken(key, limit),
      peekTokens: (key, limit) => cluster.peekTokens(key, limit),
      forget: async (key) => void (await cluster.del(key)),
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
      takeToken: (key, limit) => sentinel.takeToken(key, limit),
      peekTokens: (key, limit) => sentinel.peekTokens(key, limit),
      forget: async (key) => void (await sentinel.del(key)),
      close() {
        isClosed = true
        sentinel.destroy().catch(onError)
      },
    }
  },
}

/** Long enough for a Redis that is busy, short enough to notice one whose machine is gone. */
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
    // Keeps an idle connection from looking silent.
    pingInterval: 2_000,
    // Who asks while there is no connection is told so at once, and counts by itself.
    disableOfflineQueue: true,
    disableClientInfo: true,
  }
}

/** A cluster, or sentinels, give up when the first try fails: one server does not. */
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
