import { findMisspellings } from '@portcullis/service-kit/text/similar-names'

const addresses = [
  'UPSTREAM_LOCAL',
  'UPSTREAM_REMOTE',
  'DOWNSTREAM_REMOTE',
  'DOWNSTREAM_DIRECT_REMOTE',
  'DOWNSTREAM_LOCAL',
  'DOWNSTREAM_DIRECT_LOCAL',
].flatMap((side) => [
  `${side}_ADDRESS`,
  `${side}_ADDRESS_WITHOUT_PORT`,
  `${side}_PORT`,
  `${side}_ADDRESS_ENDPOINT_ID`,
])

const certificates = ['DOWNSTREAM', 'UPSTREAM'].flatMap((side) =>
  [
    'PEER_URI_SAN',
    'PEER_DNS_SAN',
    'PEER_IP_SAN',
    'PEER_EMAIL_SAN',
    'PEER_OTHERNAME_SAN',
    'LOCAL_URI_SAN',
    'LOCAL_DNS_SAN',
    'LOCAL_IP_SAN',
    'LOCAL_EMAIL_SAN',
    'LOCAL_OTHERNAME_SAN',
    'PEER_SUBJECT',
    'LOCAL_SUBJECT',
    'PEER_ISSUER',
    'PEER_SERIAL',
    'PEER_FINGERPRINT_256',
    'PEER_FINGERPRINT_1',
    'PEER_CHAIN_FINGERPRINTS_256',
    'PEER_CHAIN_FINGERPRINTS_1',
    'PEER_CHAIN_SERIALS',
    'PEER_CERT',
    'PEER_CERT_V_START',
    'PEER_CERT_V_END',
    'TLS_SESSION_ID',
    'TLS_CIPHER',
    'TLS_VERSION',
    'TLS_GROUP',
    'TRANSPORT_FAILURE_REASON',
    'DETECTED_CLOSE_TYPE',
    'LOCAL_CLOSE_REASON',
    'WIRE_BYTES_SENT',
    'WIRE_BYTES_RECEIVED',
    'HEADER_BYTES_SENT',
    'HEADER_BYTES_RECEIVED',
    'DECOMPRESSED_HEADER_BYTES_SENT',
    'DECOMPRESSED_HEADER_BYTES_RECEIVED',
  ].map((what) => `${side}_${what}`),
)

/** The operators in Envoy's documentation, up to 1.40. */
const known: ReadonlySet<string> = new Set([
  ...addresses,
  ...certificates,
  ...['START_TIME', 'START_TIME_LOCAL', 'EMIT_TIME', 'EMIT_TIME_LOCAL'],
  ...['DURATION', 'COMMON_DURATION', 'REQUEST_DURATION', 'REQUEST_TX_DURATION'],
  ...['RESPONSE_DURATION', 'RESPONSE_TX_DURATION', 'ROUNDTRIP_DURATION'],
  ...['DOWNSTREAM_HANDSHAKE_DURATION', 'UPSTREAM_CONNECTION_POOL_READY_DURATION'],
  ...['REQ', 'REQUEST_HEADER', 'REQ_WITHOUT_QUERY', 'PATH', 'QUERY_PARAM', 'QUERY_PARAMS'],
  ...['RESP', 'RESPONSE_HEADER', 'TRAILER', 'RESPONSE_TRAILER'],
  ...['PROTOCOL', 'UPSTREAM_PROTOCOL', 'RESPONSE_CODE', 'RESPONSE_CODE_DETAILS'],
  ...['RESPONSE_FLAGS', 'RESPONSE_FLAGS_LONG', 'CONNECTION_TERMINATION_DETAILS'],
  ...['BYTES_RECEIVED', 'BYTES_SENT', 'BYTES_RETRANSMITTED', 'PACKETS_RETRANSMITTED'],
  ...['REQUEST_HEADERS_BYTES', 'RESPONSE_HEADERS_BYTES', 'RESPONSE_TRAILERS_BYTES'],
  ...['ROUTE_NAME', 'VIRTUAL_CLUSTER_NAME', 'VIRTUAL_HOST_NAME'],
  ...['UPSTREAM_HOST', 'UPSTREAM_HOST_NAME', 'UPSTREAM_HOST_NAME_WITHOUT_PORT', 'UPSTREAM_CLUSTER'],
  ...['UPSTREAM_CLUSTER_RAW', 'UPSTREAM_REQUEST_ATTEMPT_COUNT', 'UPSTREAM_CONNECTION_ID'],
  ...['UPSTREAM_HOSTS_ATTEMPTED', 'UPSTREAM_HOSTS_ATTEMPTED_WITHOUT_PORT'],
  ...['UPSTREAM_HOST_NAMES_ATTEMPTED', 'UPSTREAM_HOST_NAMES_ATTEMPTED_WITHOUT_PORT'],
  ...['UPSTREAM_CONNECTION_IDS_ATTEMPTED'],
  ...['CONNECTION_ID', 'STREAM_ID', 'UNIQUE_ID', 'TRACE_ID', 'SPAN_ID', 'HOSTNAME'],
  ...['GRPC_STATUS', 'GRPC_STATUS_NUMBER', 'REQUESTED_SERVER_NAME', 'FILTER_CHAIN_NAME'],
  ...['DYNAMIC_METADATA', 'CLUSTER_METADATA', 'UPSTREAM_METADATA', 'METADATA'],
  ...['FILTER_STATE', 'UPSTREAM_FILTER_STATE', 'TLS_JA3_FINGERPRINT', 'TLS_JA4_FINGERPRINT'],
  ...['LOCAL_REPLY_BODY', 'ACCESS_LOG_TYPE', 'ENVIRONMENT', 'CEL', 'TYPED_CEL', 'CUSTOM_FLAGS'],
  ...['COALESCE', 'FILE_CONTENT', 'SECRET', 'GENERIC_SECRET', 'REQUEST_BODY', 'RESPONSE_BODY'],
])

const aliases: Readonly<Record<string, string>> = {
  REQUEST_HEADER: 'REQ',
  RESPONSE_HEADER: 'RESP',
  RESPONSE_TRAILER: 'TRAILER',
}

/** Operators that take a header name, and optionally an alternative after a question mark. */
const withHeaders: ReadonlySet<string> = new Set(['REQ', 'RESP', 'TRAILER'])
const times: ReadonlySet<string> = new Set(['START_TIME', 'START_TIME_LOCAL'])

export function checkOperator({ name, column, text, argument }: Operator): void {
  if (!known.has(name)) {
    const upper = name.toUpperCase()
    const [near] = findMisspellings([upper], known)
    const suggestion = known.has(upper) ? upper : near?.suggestion
    const hint = suggestion === undefined ? '' : `; did you mean %${suggestion}%?`
    throw new FormatError(`unknown operator ${text}${hint}`, column)
  }
  if (withHeaders.has(toName(name)) && (argument === undefined || argument === '')) {
    throw new FormatError(`${text} has no header name: write %${name}(X-USER)%`, column)
  }
}

export function isTime({ name }: Operator): boolean {
  return times.has(name)
}

/** Whether the logged operator has the wanted value. */
export function isSameValue(logged: Operator, wanted: Operator): boolean {
  const name = toName(wanted.name)
  if (toName(logged.name) !== name) return false
  if (!withHeaders.has(name)) return (logged.argument ?? '') === (wanted.argument ?? '')
  const headers = toHeaders(logged)
  return toHeaders(wanted).some((header) => headers.includes(header))
}

function toName(name: string): string {
  return aliases[name] ?? name
}

function toHeaders({ argument = '' }: Operator): string[] {
  return argument.toLowerCase().split('?')
}

/** An invalid format or template. The column refers to the containing text. */
export class FormatError extends Error {
  override readonly name = 'FormatError'
  /** From 1. */
  readonly column: number

  constructor(message: string, column: number) {
    super(message)
    this.column = column
  }
}

/** `%NAME(ARGUMENT):LENGTH%` */
export interface Operator {
  readonly name: string
  readonly argument: string | undefined
  /** The text as written. */
  readonly text: string
  /** Starts at 1. */
  readonly column: number
}

export type TemplatePart = string | Operator

const operator = /%([^%():]+)(?:\((.*?)\))?(?::\d+)?%/sy

/** Splits text with operators in it, as Envoy writes them; `%%` is a percent sign. */
export function parseTemplate(text: string): TemplatePart[] {
  const parts: TemplatePart[] = []
  let literal = ''
  let at = 0
  while (at < text.length) {
    const percent = text.indexOf('%', at)
    if (percent === -1) break
    literal += text.slice(at, percent)
    if (text[percent + 1] === '%') {
      literal += '%'
      at = percent + 2
      continue
    }
    operator.lastIndex = percent
    const [whole, name, argument] = operator.exec(text) ?? []
    if (whole === undefined || name === undefined) {
      throw new FormatError(
        'this % does not start an operator such as %START_TIME% or %REQ(X-USER)%; write %% for a percent sign',
        percent + 1,
      )
    }
    if (literal !== '') parts.push(literal)
    literal = ''
    parts.push({ name, argument, text: whole, column: percent + 1 })
    at = percent + whole.length
  }
  literal += text.slice(at)
  if (literal !== '') parts.push(literal)
  return parts
}
