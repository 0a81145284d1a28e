import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { diag } from '@opentelemetry/api'
import { parseKeyPairsIntoRecord } from '@opentelemetry/core'
import type { OTLPTraceExporter as GrpcExporter } from '@opentelemetry/exporter-trace-otlp-grpc'
import type { OTLPTraceExporter as HttpExporter } from '@opentelemetry/exporter-trace-otlp-proto'

/*
 * Converts the OTEL_EXPORTER_OTLP_ variables to options of the exporters. The exporters read only
 * the environment of the process, but these variables may also come from a file or have the prefix
 * of this server.
 */

export type Signal = 'TRACES' | 'METRICS'
type Variables = Readonly<Record<string, string>>

type HttpOptions = NonNullable<ConstructorParameters<typeof HttpExporter>[0]>
type GrpcOptions = NonNullable<ConstructorParameters<typeof GrpcExporter>[0]>

const paths: Readonly<Record<Signal, string>> = { TRACES: 'v1/traces', METRICS: 'v1/metrics' }

export function toHttpOptions(variables: Variables, signal: Signal): HttpOptions {
  const url = findHttpUrl(variables, signal)
  const { ca, cert, key } = readCertificates(variables, signal)
  return {
    ...toSharedOptions(variables, signal),
    ...(url !== undefined && { url }),
    headers: findHeaders(variables, signal),
    httpAgentOptions: {
      keepAlive: true,
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
    },
  }
}

export function toGrpcOptions(variables: Variables, signal: Signal): GrpcOptions {
  const url = find(variables, signal, 'ENDPOINT')?.trim()
  const grpc = loadGrpc()
  const metadata = new grpc.Metadata()
  for (const [name, value] of Object.entries(findHeaders(variables, signal))) {
    metadata.set(name, value)
  }
  return {
    ...toSharedOptions(variables, signal),
    ...(url !== undefined && { url }),
    metadata,
    credentials: toCredentials(variables, signal, url ?? 'http://localhost:4317', grpc),
  }
}

/** Parses OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE to the enumeration of the exporters. */
export function findTemporality(variables: Variables): 0 | 1 | 2 {
  const name = 'OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE'
  const text = (variables[name] ?? 'cumulative').trim().toLowerCase()
  const found = { delta: 0, cumulative: 1, lowmemory: 2 } as const
  if (text === 'delta' || text === 'cumulative' || text === 'lowmemory') return found[text]
  diag.warn(`${name} is ${text}: it must be cumulative, delta or lowmemory. Using cumulative`)
  return found.cumulative
}

function toSharedOptions(variables: Variables, signal: Signal) {
  const timeoutMillis = Number(find(variables, signal, 'TIMEOUT'))
  const compression = find(variables, signal, 'COMPRESSION')?.trim() ?? 'none'
  if (compression !== 'gzip' && compression !== 'none') {
    diag.warn(`OTEL_EXPORTER_OTLP_COMPRESSION is ${compression}: it must be none or gzip`)
  }
  return {
    ...(timeoutMillis > 0 && { timeoutMillis }),
    // If it is omitted, the exporters read the environment of the process.
    compression: toCompression(compression === 'gzip' ? 'gzip' : 'none'),
  }
}

/** The type is an enumeration with these values. */
function toCompression(text: 'gzip' | 'none'): NonNullable<HttpOptions['compression']> {
  return text as NonNullable<HttpOptions['compression']>
}

/** Returns the variable of the signal, or the common one. */
function find(variables: Variables, signal: Signal, name: string): string | undefined {
  const own = variables[`OTEL_EXPORTER_OTLP_${signal}_${name}`]
  const value = own?.trim() ? own : variables[`OTEL_EXPORTER_OTLP_${name}`]
  return value?.trim() ? value : undefined
}

/** The endpoint of a signal is used unchanged; the path is appended to the common endpoint. */
function findHttpUrl(variables: Variables, signal: Signal): string | undefined {
  const own = variables[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`]?.trim()
  if (own && isUrl(own)) return new URL(own).href
  const shared = variables['OTEL_EXPORTER_OTLP_ENDPOINT']?.trim()
  return shared && isUrl(shared) ? `${shared.replace(/\/$/, '')}/${paths[signal]}` : undefined
}

function isUrl(text: string): boolean {
  if (URL.canParse(text)) return true
  diag.warn(`The endpoint ${text} is ignored because it is not a URL such as http://collector:4318`)
  return false
}

function findHeaders(variables: Variables, signal: Signal): Record<string, string> {
  return {
    ...parseKeyPairsIntoRecord(variables['OTEL_EXPORTER_OTLP_HEADERS']),
    ...parseKeyPairsIntoRecord(variables[`OTEL_EXPORTER_OTLP_${signal}_HEADERS`]),
  }
}

function readCertificates(variables: Variables, signal: Signal) {
  const read = (name: string): Buffer | undefined => {
    const path = find(variables, signal, name)?.trim()
    if (path === undefined) return undefined
    try {
      return readFileSync(path)
    } catch {
      diag.warn(`The file of OTEL_EXPORTER_OTLP_${name} cannot be read`)
      return undefined
    }
  }
  return { ca: read('CERTIFICATE'), cert: read('CLIENT_CERTIFICATE'), key: read('CLIENT_KEY') }
}

interface Grpc {
  readonly Metadata: new () => NonNullable<GrpcOptions['metadata']>
  readonly credentials: {
    createInsecure(): NonNullable<GrpcOptions['credentials']>
    createSsl(
      ca?: Buffer | null,
      key?: Buffer | null,
      cert?: Buffer | null,
    ): NonNullable<GrpcOptions['credentials']>
  }
}

/**
 * Loads the exporter's own copy of the library, because it does not accept credentials of another
 * copy.
 */
function loadGrpc(): Grpc {
  const { resolve } = createRequire(import.meta.url)
  return createRequire(resolve('@opentelemetry/exporter-trace-otlp-grpc'))('@grpc/grpc-js')
}

/** Without a scheme, the connection is encrypted unless OTEL_EXPORTER_OTLP_INSECURE is true. */
function toCredentials(variables: Variables, signal: Signal, url: string, { credentials }: Grpc) {
  const isInsecure = find(variables, signal, 'INSECURE')?.trim().toLowerCase() === 'true'
  if (url.startsWith('http://') || (isInsecure && !url.startsWith('https://'))) {
    return credentials.createInsecure()
  }
  const { ca, cert, key } = readCertificates(variables, signal)
  if ((key === undefined) === (cert === undefined)) return credentials.createSsl(ca, key, cert)
  diag.warn('The client certificate and key are ignored because both must be set')
  return credentials.createSsl(ca)
}
