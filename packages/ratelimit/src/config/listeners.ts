import type { Limits } from '@portcullis/grpc-unary'
import type { Check } from '@portcullis/service-kit/config-check'
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
} from '@portcullis/service-kit/env'
import { type grpcLimits, toGrpcLimits } from './grpc-limits.ts'

export const listeners = {
  title: 'Listeners',
  variables: {
    grpcHost: string('GRPC_HOST', '0.0.0.0', 'Address of the gRPC listener; `::` for IPv6 too'),
    grpcPort: port('GRPC_PORT', 8081, 'Port of the gRPC listener; 0 takes any free one'),
    grpcSocket: path('GRPC_UDS', '', 'Unix socket of the gRPC listener, in place of host and port'),
    grpcMaxAgeMs: duration(
      'GRPC_MAX_CONNECTION_AGE',
      '24h',
      'Age at which a gRPC connection is asked to go (GOAWAY), give or take 10 %; 0: never',
    ),
    grpcMaxAgeGraceMs: duration(
      'GRPC_MAX_CONNECTION_AGE_GRACE',
      '1h',
      'How long a connection past its age may finish its calls before it is closed; 0: no limit',
    ),
    grpcReflection: boolean(
      'GRPC_REFLECTION',
      false,
      'Whether the gRPC listener describes its services to tools such as grpcurl',
    ),
    grpcTls: boolean('GRPC_SERVER_USE_TLS', false, 'Whether the gRPC listener speaks TLS'),
    grpcTlsCert: path('GRPC_SERVER_TLS_CERT', '', 'Certificate of the gRPC listener, PEM'),
    grpcTlsKey: path('GRPC_SERVER_TLS_KEY', '', 'Private key of the gRPC listener, PEM'),
    grpcClientCa: path(
      'GRPC_CLIENT_TLS_CACERT',
      '',
      'CA that callers must present a certificate of (mutual TLS), PEM',
    ),
    grpcClientSan: string(
      'GRPC_CLIENT_TLS_SAN',
      '',
      'Name that the certificate of a caller must be valid for',
    ),
    httpHost: string('HOST', '0.0.0.0', 'Address of the HTTP listener (/json, /healthcheck)'),
    httpPort: port('PORT', 8080, 'Port of the HTTP listener; 0 takes any free one'),
    httpBodyLimitBytes: integer(
      'HTTP_BODY_LIMIT_BYTES',
      1_048_576,
      'Largest request that /json reads; larger ones get 413',
      { min: 1, max: 1 << 30 },
    ),
    httpAllowedOrigins: list(
      'HTTP_ALLOWED_ORIGINS',
      [],
      'Websites whose pages may call /json from a browser, such as https://app.example; *: all',
    ),
    debugHost: string('DEBUG_HOST', '0.0.0.0', 'Address of the debug listener: not for the public'),
    debugPort: port('DEBUG_PORT', 6070, 'Port of the debug listener; 0 takes any free one'),
    debugToken: string(
      'DEBUG_TOKEN',
      '',
      'With it (authorization: Bearer) other machines may use all debug pages; without it ' +
        '/debug/pprof/ and /workers answer only this machine',
      { mask: hideAll },
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
  /** In place of host and port. */
  readonly socketPath: string | undefined
  /** 0: never. */
  readonly maxConnectionAgeMs: number
  /** 0: no limit. */
  readonly maxConnectionAgeGraceMs: number
  readonly hasReflection: boolean
  readonly limits: Limits
  readonly tls: GrpcTlsConfig | undefined
}

export interface GrpcTlsConfig {
  readonly certPath: string
  readonly keyPath: string
  /** Callers need a certificate of this CA. */
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
    },
  }
}

/** As browsers send them: a slash at the end would never match. */
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
    check.fault(grpcClientSan, `needs ${grpcClientCa.name}: without it callers have no certificate`)
  }
  return {
    certPath: settings.grpcTlsCert,
    keyPath: settings.grpcTlsKey,
    clientCaPath: settings.grpcClientCa || undefined,
    clientSan: settings.grpcClientSan || undefined,
  }
}
