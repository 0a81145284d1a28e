import type { Limits } from '@portcullis/grpc-unary'
import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  boolean,
  type Chapter,
  duration,
  hideAll,
  integer,
  list,
  path,
  port,
  type Settings,
  string,
} from '@portcullis/service-kit/settings/env'
import { type grpcLimits, toGrpcLimits } from './grpc-limits.ts'

export const listeners = {
  title: 'Listeners',
  variables: {
    grpcHost: string(
      'GRPC_HOST',
      '0.0.0.0',
      'Address of the gRPC listener; `::` listens on IPv6 and IPv4',
    ),
    grpcPort: port('GRPC_PORT', 8081, 'Port of the gRPC listener; 0: any free port'),
    grpcSocket: path(
      'GRPC_UDS',
      '',
      'Path of a Unix socket for the gRPC listener, instead of a host and port',
    ),
    grpcMaxAgeMs: duration(
      'GRPC_MAX_CONNECTION_AGE',
      '24h',
      'Age at which a gRPC connection receives GOAWAY, varied at random by up to 10 %; 0: never',
    ),
    grpcMaxAgeGraceMs: duration(
      'GRPC_MAX_CONNECTION_AGE_GRACE',
      '1h',
      'Time for calls to finish after that GOAWAY before the connection is closed; 0: no limit',
    ),
    grpcReflection: boolean(
      'GRPC_REFLECTION',
      false,
      'Whether the gRPC listener offers server reflection, for tools such as grpcurl',
    ),
    grpcTls: boolean('GRPC_SERVER_USE_TLS', false, 'Whether the gRPC listener uses TLS'),
    grpcTlsCert: path('GRPC_SERVER_TLS_CERT', '', 'Certificate file of the gRPC listener, PEM'),
    grpcTlsKey: path('GRPC_SERVER_TLS_KEY', '', 'Private key file of the gRPC listener, PEM'),
    grpcClientCa: path(
      'GRPC_CLIENT_TLS_CACERT',
      '',
      'CA file that client certificates are verified against (mutual TLS), PEM',
    ),
    grpcClientSan: string(
      'GRPC_CLIENT_TLS_SAN',
      '',
      'Name that client certificates must be valid for',
    ),
    httpHost: string('HOST', '0.0.0.0', 'Address of the HTTP listener (/json, /healthcheck)'),
    httpPort: port('PORT', 8080, 'Port of the HTTP listener; 0: any free port'),
    httpBodyLimitBytes: integer(
      'HTTP_BODY_LIMIT_BYTES',
      1_048_576,
      'Maximum size of a request body on /json; larger requests get status 413',
      { min: 1, max: 1 << 30 },
    ),
    httpAllowedOrigins: list(
      'HTTP_ALLOWED_ORIGINS',
      [],
      'Origins that may call /json from a browser (CORS), such as https://app.example; *: all',
    ),
    debugHost: string(
      'DEBUG_HOST',
      '0.0.0.0',
      'Address of the debug listener, which must not be public',
    ),
    debugPort: port('DEBUG_PORT', 6070, 'Port of the debug listener; 0: any free port'),
    debugToken: string(
      'DEBUG_TOKEN',
      '',
      'Bearer token that gives other machines access to all debug pages; without it ' +
        '/debug/pprof/, /top, /counter, /settings, /decisions and /workers are available only from this machine',
      { mask: hideAll },
    ),
    debugDecisions: integer(
      'DEBUG_RECORDED_DECISIONS',
      0,
      'How many of the latest decisions to keep in memory; /decisions lists them in the format that ' +
        '`ratelimit replay` reads; recording makes each decision slower; 0: none',
      { min: 0, max: 1_000_000 },
    ),
  },
} satisfies Chapter

export interface ListenersConfig {
  readonly grpc: GrpcListenerConfig
  readonly http: HttpListenerConfig
  readonly debug: DebugListenerConfig
}

export interface GrpcListenerConfig {
  readonly host: string
  readonly port: number
  /** Used instead of host and port. */
  readonly socketPath: string | undefined
  /** 0 means that connections never expire. */
  readonly maxConnectionAgeMs: number
  /** 0 means that there is no limit. */
  readonly maxConnectionAgeGraceMs: number
  readonly hasReflection: boolean
  readonly limits: Limits
  readonly tls: GrpcTlsConfig | undefined
}

export interface GrpcTlsConfig {
  readonly certPath: string
  readonly keyPath: string
  /** Clients need a certificate signed by this CA. */
  readonly clientCaPath: string | undefined
  readonly clientSan: string | undefined
}

export interface HttpListenerConfig {
  readonly host: string
  readonly port: number
  readonly bodyLimitBytes: number
  readonly allowedOrigins: readonly string[]
}

export interface DebugListenerConfig {
  readonly host: string
  readonly port: number
  readonly token: string | undefined
  /** 0 if no decisions are recorded. */
  readonly recordedDecisions: number
}

export function toListeners(
  settings: Settings<typeof listeners.variables>,
  limits: Settings<typeof grpcLimits.variables>,
  check: Check,
): ListenersConfig {
  return {
    grpc: {
      host: settings.grpcHost,
      port: settings.grpcPort,
      socketPath: settings.grpcSocket || undefined,
      maxConnectionAgeMs: settings.grpcMaxAgeMs,
      maxConnectionAgeGraceMs: settings.grpcMaxAgeGraceMs,
      hasReflection: settings.grpcReflection,
      limits: toGrpcLimits(limits, check),
      tls: toGrpcTls(settings, check),
    },
    http: {
      host: settings.httpHost,
      port: settings.httpPort,
      bodyLimitBytes: settings.httpBodyLimitBytes,
      allowedOrigins: toOrigins(settings.httpAllowedOrigins, check),
    },
    debug: {
      host: settings.debugHost,
      port: settings.debugPort,
      token: settings.debugToken || undefined,
      recordedDecisions: settings.debugDecisions,
    },
  }
}

/** Origins are normalized to the form that browsers send: one with a trailing slash would never match. */
function toOrigins(written: readonly string[], check: Check): string[] {
  return written.map((text) => {
    if (text === '*') return text
    const origin = URL.parse(text)?.origin ?? 'null'
    if (origin === 'null') {
      check.fault(
        listeners.variables.httpAllowedOrigins,
        'must list origins such as https://app.example, or *',
      )
    }
    return origin
  })
}

function toGrpcTls(
  settings: Settings<typeof listeners.variables>,
  check: Check,
): GrpcTlsConfig | undefined {
  const { grpcTls, grpcTlsCert, grpcTlsKey, grpcClientCa, grpcClientSan } = listeners.variables
  if (!settings.grpcTls) {
    if (settings.grpcTlsCert !== '' || settings.grpcClientCa !== '') {
      const { name } = settings.grpcTlsCert === '' ? grpcClientCa : grpcTlsCert
      check.note(`${name} has no effect: ${grpcTls.name} is not true`)
    }
    return undefined
  }
  for (const variable of [grpcTlsCert, grpcTlsKey]) {
    const isMissing = (variable === grpcTlsCert ? settings.grpcTlsCert : settings.grpcTlsKey) === ''
    if (isMissing) check.fault(variable, `must name a PEM file when ${grpcTls.name} is true`)
  }
  if (settings.grpcClientSan !== '' && settings.grpcClientCa === '') {
    check.fault(
      grpcClientSan,
      `needs ${grpcClientCa.name}: without it clients present no certificate`,
    )
  }
  return {
    certPath: settings.grpcTlsCert,
    keyPath: settings.grpcTlsKey,
    clientCaPath: settings.grpcClientCa || undefined,
    clientSan: settings.grpcClientSan || undefined,
  }
}
