import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  boolean,
  type Chapter,
  choice,
  duration,
  hideAll,
  hideCredentials,
  integer,
  path,
  type Settings,
  string,
  withAlias,
} from '@portcullis/service-kit/settings/env'
import { toReason } from '@portcullis/service-kit/text/reason'
import { type ClientTlsConfig, toClientTls } from '../../tls/client-tls-settings.ts'
import { parseRedisAddress } from './address.ts'

const types = ['single', 'sentinel', 'cluster'] as const
const socketTypes = ['unix', 'tcp'] as const
const poolBehaviors = ['WAIT'] as const

/** envoyproxy/ratelimit uses the prefix REDIS. */
function toRedisName(name: string): string {
  return name.replace(/^KVSTORE_/, 'REDIS_')
}

/** The variables of both instances, each with its own prefix. */
function toInstanceVariables(prefix: 'KVSTORE' | 'KVSTORE_PERSECOND', socketPath: string) {
  return {
    type: choice(
      `${prefix}_TYPE`,
      types,
      'single',
      'Whether to use a single server, a master with sentinels, or a cluster',
      {
        refuse: (text) => `Unrecognized redis type ${text}. It must be one of: ${types.join(', ')}`,
      },
    ),
    url: string(
      `${prefix}_URL`,
      socketPath,
      'Address: host:port, a socket path, redis://[user:password@]host:port[/db]; ' +
        'sentinel: master,host:port,…; cluster: host:port,…',
      { mask: hideCredentials },
    ),
    socketType: choice(
      `${prefix}_SOCKET_TYPE`,
      socketTypes,
      'unix',
      'Whether the address is a socket path or a host and port',
      { defaultText: 'derived from the address' },
    ),
    poolSize: integer(`${prefix}_POOL_SIZE`, 10, 'Maximum number of connections per server', {
      min: 1,
      max: 10_000,
    }),
    auth: string(`${prefix}_AUTH`, '', 'password, or user:password; overrides the address', {
      mask: hideAll,
    }),
    sentinelAuth: string(
      `${prefix}_SENTINEL_AUTH`,
      '',
      'password, or user:password, for the sentinels',
      { mask: hideAll },
    ),
    tls: boolean(`${prefix}_TLS`, false, 'Whether to use TLS'),
    pipelineWindowMs: duration(
      `${prefix}_PIPELINE_WINDOW`,
      '0',
      'How long commands of several calls are collected before they are sent, such as 75us',
    ),
    pipelineLimit: integer(
      `${prefix}_PIPELINE_LIMIT`,
      0,
      'Number of collected commands at which they are sent immediately; 0: no limit',
      { max: 2 ** 31 - 1 },
    ),
    connectTimeoutMs: duration(`${prefix}_TIMEOUT`, '10s', 'Timeout for connecting'),
    poolOnEmpty: choice(
      `${prefix}_POOL_ON_EMPTY_BEHAVIOR`,
      poolBehaviors,
      'WAIT',
      'What calls do while all connections are busy; only WAIT is supported',
    ),
    clusterParallelism: integer(
      `${prefix}_CLUSTER_PIPELINE_PARALLELISM`,
      1,
      'Accepted for compatibility and ignored: the servers of a cluster are always queried in parallel',
      { max: 10_000 },
    ),
  }
}

export const redisChapter = {
  title: 'Redis',
  variables: withAlias(
    {
      ...toInstanceVariables('KVSTORE', '/var/run/nutcracker/ratelimit.sock'),
      tlsCert: path('KVSTORE_TLS_CLIENT_CERT', '', 'Client certificate file, PEM'),
      tlsKey: path('KVSTORE_TLS_CLIENT_KEY', '', 'Private key file of the client certificate, PEM'),
      tlsCa: path(
        'KVSTORE_TLS_CACERT',
        '',
        'CA file to verify the server, in addition to the system CAs, PEM',
      ),
      tlsSkipHostname: boolean(
        'KVSTORE_TLS_SKIP_HOSTNAME_VERIFICATION',
        false,
        'Whether to skip the check of the host name in the certificate',
      ),
      checksConnection: boolean(
        'KVSTORE_HEALTH_CHECK_ACTIVE_CONNECTION',
        false,
        'Whether the service is unhealthy while it has no connection to Redis',
      ),
      commandTimeoutMs: duration(
        'KVSTORE_COMMAND_TIMEOUT',
        '1s',
        'Timeout for a reply from Redis, unless the deadline of the call is earlier; 0: no limit',
      ),
      startupInitialMs: duration(
        'KVSTORE_STARTUP_INITIAL_INTERVAL',
        '1s',
        'Time before the first retry if Redis cannot be reached at startup; doubled for each further retry',
      ),
      startupMaxMs: duration(
        'KVSTORE_STARTUP_MAX_INTERVAL',
        '30s',
        'Maximum time between these retries',
      ),
      startupMaxElapsedMs: duration(
        'KVSTORE_STARTUP_MAX_ELAPSED_TIME',
        '0',
        'Time after which the service gives up and exits; 0: never',
      ),
      closesOnReadonly: boolean(
        'KVSTORE_CLOSE_CONNECTION_ON_READONLY_ERROR',
        true,
        'Accepted for compatibility and ignored: a connection to a read-only server is always replaced',
      ),
      hasPerSecond: boolean(
        'KVSTORE_PERSECOND',
        false,
        'Whether limits per second are counted in a separate instance',
      ),
    },
    toRedisName,
  ),
} satisfies Chapter

export const perSecondChapter = {
  title: 'Redis for limits per second (KVSTORE_PERSECOND=true)',
  variables: withAlias(
    toInstanceVariables('KVSTORE_PERSECOND', '/var/run/nutcracker/ratelimitpersecond.sock'),
    toRedisName,
  ),
} satisfies Chapter

export interface RedisConfig {
  readonly kind: 'redis'
  readonly main: RedisInstanceConfig
  readonly perSecond: RedisInstanceConfig | undefined
  /** Whether the service is unhealthy without a connection. */
  readonly checksConnection: boolean
  /** 0 means no limit other than the deadline of the call. */
  readonly commandTimeoutMs: number
  readonly startup: {
    readonly initialIntervalMs: number
    readonly maxIntervalMs: number
    /** 0 means no limit. */
    readonly maxElapsedMs: number
  }
}

export interface RedisInstanceConfig {
  readonly type: (typeof types)[number]
  readonly url: string
  readonly socketType: (typeof socketTypes)[number]
  readonly poolSize: number
  /** `password` or `user:password`; when empty, the credentials of the address are used. */
  readonly auth: string
  readonly sentinelAuth: string
  readonly tls: (ClientTlsConfig & { readonly skipsHostname: boolean }) | undefined
  /** 0 means that commands are not delayed. */
  readonly pipelineWindowMs: number
  /** 0 means no limit. */
  readonly pipelineLimit: number
  readonly connectTimeoutMs: number
}

type RedisSettings = Settings<typeof redisChapter.variables>
type InstanceSettings = Settings<typeof perSecondChapter.variables>
type InstanceVariables = typeof perSecondChapter.variables

export function toRedis(
  settings: RedisSettings,
  perSecond: InstanceSettings,
  check: Check,
): RedisConfig {
  const { variables } = redisChapter
  const clientTls = toClientTls(
    { cert: variables.tlsCert, key: variables.tlsKey, ca: variables.tlsCa },
    { cert: settings.tlsCert, key: settings.tlsKey, ca: settings.tlsCa },
    check,
  )
  const tls = { ...clientTls, skipsHostname: settings.tlsSkipHostname }
  if (settings.startupMaxMs < settings.startupInitialMs) {
    const initial = check.nameOf(variables.startupInitialMs)
    check.fault(variables.startupMaxMs, `must not be shorter than ${initial}`)
  }
  return {
    kind: 'redis',
    main: toInstance(settings, variables, tls, check),
    perSecond: settings.hasPerSecond
      ? toInstance(perSecond, perSecondChapter.variables, tls, check)
      : undefined,
    checksConnection: settings.checksConnection,
    commandTimeoutMs: settings.commandTimeoutMs,
    startup: {
      initialIntervalMs: settings.startupInitialMs,
      maxIntervalMs: settings.startupMaxMs,
      maxElapsedMs: settings.startupMaxElapsedMs,
    },
  }
}

function toInstance(
  settings: InstanceSettings,
  variables: InstanceVariables,
  tls: NonNullable<RedisInstanceConfig['tls']>,
  check: Check,
): RedisInstanceConfig {
  const { type, url } = settings
  const socketType = toSocketType(settings, variables, check)
  try {
    parseRedisAddress({ type, url, socketType })
  } catch (error) {
    check.fault(variables.url, toReason(error))
  }
  return {
    type,
    url,
    socketType,
    poolSize: settings.poolSize,
    auth: settings.auth,
    sentinelAuth: settings.sentinelAuth,
    tls: settings.tls || /^rediss:/i.test(url) ? tls : undefined,
    pipelineWindowMs: settings.pipelineWindowMs,
    pipelineLimit: settings.pipelineLimit,
    connectTimeoutMs: settings.connectTimeoutMs,
  }
}

/**
 * The default of envoyproxy/ratelimit is `unix`, whatever the address. Here the default follows from
 * the address, so that it is enough to set the address.
 */
function toSocketType(
  { type, url, socketType }: InstanceSettings,
  variables: InstanceVariables,
  check: Check,
): RedisInstanceConfig['socketType'] {
  const looksLikeHost = type !== 'single' || /^rediss?:\/\//i.test(url) || /^[^/]+:\d+$/.test(url)
  if (!check.isSet(variables.socketType)) return looksLikeHost ? 'tcp' : 'unix'
  if (socketType === 'unix' && looksLikeHost) {
    const names = [variables.socketType, variables.url].map((variable) => check.nameOf(variable))
    check.note(`${names[0]} is unix, but ${names[1]} looks like a host and port, not like a path`)
  }
  return socketType
}
