import type { RuleFolder } from '../rule-files.ts'

export interface Listeners {
  readonly grpc: number
  readonly http: number
  readonly debug: number
  readonly prometheus: number
}

export interface StoreAddress {
  readonly type: 'single' | 'cluster'
  readonly url: string
}

export interface ServerSettings {
  readonly listeners: Listeners
  readonly rules: RuleFolder
  /** Undefined for counters in the memory of the process. */
  readonly store: StoreAddress | undefined
  readonly localCacheBytes: number
}

const host = '127.0.0.1'

/**
 * The environment of the service or the peer, which support the same variables. Statistics are enabled for
 * both.
 */
export function toEnvironment(settings: ServerSettings): Record<string, string> {
  const { listeners, rules, store, localCacheBytes } = settings
  return {
    LOG_LEVEL: 'warn',
    GRPC_HOST: host,
    GRPC_PORT: `${listeners.grpc}`,
    HOST: host,
    PORT: `${listeners.http}`,
    DEBUG_HOST: host,
    DEBUG_PORT: `${listeners.debug}`,
    USE_STATSD: 'false',
    USE_PROMETHEUS: 'true',
    PROMETHEUS_ADDR: `${host}:${listeners.prometheus}`,
    RUNTIME_ROOT: rules.root,
    RUNTIME_SUBDIRECTORY: rules.subdirectory,
    RUNTIME_APPDIRECTORY: rules.appDirectory,
    RUNTIME_WATCH_ROOT: 'false',
    LOCAL_CACHE_SIZE_IN_BYTES: `${localCacheBytes}`,
    ...(store && {
      REDIS_SOCKET_TYPE: 'tcp',
      REDIS_TYPE: store.type,
      REDIS_URL: store.url,
    }),
  }
}
