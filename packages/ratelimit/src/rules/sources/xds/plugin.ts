import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  boolean,
  type Chapter,
  duration,
  hideAll,
  integer,
  map,
  number,
  path,
  type Settings,
  string,
} from '@portcullis/service-kit/settings/env'
import { toMessage } from '@portcullis/service-kit/text/reason'
import { type ClientTlsConfig, toClientTls } from '../../../tls/client-tls-settings.ts'
import type { RuleSourcePlugin } from '../source.ts'
import { parseHeaders, parseServerAddress } from './parse-settings.ts'

const chapter = {
  title: 'Rules from a management server (CONFIG_TYPE=GRPC_XDS_SOTW)',
  variables: {
    url: string(
      'CONFIG_GRPC_XDS_SERVER_URL',
      'localhost:18000',
      'host:port of the management server',
    ),
    nodeId: string(
      'CONFIG_GRPC_XDS_NODE_ID',
      'default',
      'Node ID that identifies this service to the server',
    ),
    nodeMetadata: map(
      'CONFIG_GRPC_XDS_NODE_METADATA',
      'Node metadata that is sent to the server: k=v,k2=v2',
      {
        separator: '=',
      },
    ),
    headers: map(
      'CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS',
      'Additional headers that are sent to the server: k1:v1,k2:v2',
      { mask: hideAll },
    ),
    connectRetryMs: duration(
      'CONFIG_GRPC_XDS_SERVER_CONNECT_RETRY_INTERVAL',
      '3s',
      'Time between attempts while the server cannot be reached',
    ),
    backoffInitialMs: duration(
      'XDS_CLIENT_BACKOFF_INITIAL_INTERVAL',
      '10s',
      'Time before the first retry after a stream has failed; doubled for each further retry',
    ),
    backoffMaxMs: duration(
      'XDS_CLIENT_BACKOFF_MAX_INTERVAL',
      '60s',
      'Maximum time between these retries',
    ),
    backoffRandomFactor: number(
      'XDS_CLIENT_BACKOFF_RANDOM_FACTOR',
      0.5,
      'Random variation of the time between retries, as a fraction of it',
      { min: 0, max: 1 },
    ),
    hasBackoffJitter: boolean(
      'XDS_CLIENT_BACKOFF_JITTER',
      true,
      'Whether the time between retries varies at random',
    ),
    maxMessageBytes: integer(
      'XDS_CLIENT_MAX_MSG_SIZE_IN_BYTES',
      0,
      'Maximum size of a message from the server; 0: 4 MiB',
      { max: 2 ** 31 - 1 },
    ),
    tls: boolean(
      'CONFIG_GRPC_XDS_SERVER_USE_TLS',
      false,
      'Whether to use TLS for the connection to the server',
    ),
    tlsCert: path('CONFIG_GRPC_XDS_CLIENT_TLS_CERT', '', 'Client certificate file, PEM'),
    tlsKey: path(
      'CONFIG_GRPC_XDS_CLIENT_TLS_KEY',
      '',
      'Private key file of the client certificate, PEM',
    ),
    tlsCa: path('CONFIG_GRPC_XDS_SERVER_TLS_CACERT', '', 'CA file to verify the server, PEM'),
    tlsSan: string(
      'CONFIG_GRPC_XDS_SERVER_TLS_SAN',
      '',
      "Name that the server's certificate must be valid for, instead of its host name",
    ),
  },
} satisfies Chapter

export interface XdsRulesConfig {
  readonly kind: 'xds'
  readonly serverUrl: string
  readonly nodeId: string
  readonly nodeMetadata: ReadonlyMap<string, string>
  readonly headers: ReadonlyMap<string, string>
  readonly connectRetryMs: number
  readonly backoff: {
    readonly initialMs: number
    readonly maxMs: number
    /** 0 means no jitter. */
    readonly randomFactor: number
  }
  readonly maxMessageBytes: number
  readonly tls: (ClientTlsConfig & { readonly serverName: string | undefined }) | undefined
}

export const xds: RuleSourcePlugin<{ xds: typeof chapter }, XdsRulesConfig> = {
  kind: 'xds',
  configType: 'GRPC_XDS_SOTW',
  place: 'a management server over xDS',
  chapters: { xds: chapter },
  toConfig: (settings, check) => toXdsConfig(settings.xds, check),
  // Loaded on demand, because it needs the protobuf library.
  open: async (config, parts) => {
    const { openXdsSource } = await import('./xds-source.ts')
    return openXdsSource({ ...config, ...parts })
  },
}

function toXdsConfig(settings: Settings<typeof chapter.variables>, check: Check): XdsRulesConfig {
  const { variables } = chapter
  try {
    parseServerAddress(settings.url)
  } catch (error) {
    check.fault(variables.url, toMessage(error))
  }
  try {
    parseHeaders(settings.headers)
  } catch (error) {
    check.fault(variables.headers, toMessage(error))
  }
  if (settings.backoffMaxMs < settings.backoffInitialMs) {
    const initial = check.nameOf(variables.backoffInitialMs)
    check.fault(variables.backoffMaxMs, `must not be shorter than ${initial}`)
  }
  const tls = toClientTls(
    { cert: variables.tlsCert, key: variables.tlsKey, ca: variables.tlsCa },
    { cert: settings.tlsCert, key: settings.tlsKey, ca: settings.tlsCa },
    check,
  )
  return {
    kind: 'xds',
    serverUrl: settings.url,
    nodeId: settings.nodeId,
    nodeMetadata: settings.nodeMetadata,
    headers: settings.headers,
    connectRetryMs: settings.connectRetryMs,
    backoff: {
      initialMs: settings.backoffInitialMs,
      maxMs: settings.backoffMaxMs,
      randomFactor: settings.hasBackoffJitter ? settings.backoffRandomFactor : 0,
    },
    maxMessageBytes: settings.maxMessageBytes === 0 ? 4 << 20 : settings.maxMessageBytes,
    tls: settings.tls ? { ...tls, serverName: settings.tlsSan || undefined } : undefined,
  }
}
