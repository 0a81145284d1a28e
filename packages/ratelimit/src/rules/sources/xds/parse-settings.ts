/** The address of the management server. */
export type ServerAddress =
  | { readonly path: string }
  | { readonly host: string; readonly port: number }

/** gRPC addresses may have a scheme that selects the resolver; all of these use the default one. */
const scheme = /^(?:dns|passthrough|ipv4|ipv6):(?:\/\/\/)?/

const unixPath = /^unix:(?:\/\/)?(?<path>.+)$/

const hostAndPort = /^(?:\[(?<bracketed>[^\]]+)\]|(?<plain>[^:/[\]]+)):(?<port>\d{1,5})$/

/** @throws Error that says what to write instead */
export function parseServerAddress(url: string): ServerAddress {
  const path = unixPath.exec(url)?.groups?.path
  if (path !== undefined) return { path }
  const { bracketed, plain, port } = hostAndPort.exec(url.replace(scheme, ''))?.groups ?? {}
  const host = bracketed ?? plain
  if (host === undefined || Number(port) > 65_535) {
    throw new Error('must be host:port, [IPv6 address]:port or unix:path')
  }
  return { host, port: Number(port) }
}

/** The valid names in the metadata of a gRPC call. */
const headerName = /^[0-9a-z_.-]+$/
const headerValue = /^[\x20-\x7e]*$/

/**
 * Parses CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS.
 * @throws Error that names the header but not its value, which may be a secret
 */
export function parseHeaders(headers: ReadonlyMap<string, string>): Record<string, string> {
  const parsed: Record<string, string> = {}
  for (const [given, value] of headers) {
    const name = given.trim().toLowerCase()
    if (!headerName.test(name)) refuse(given, 'has an invalid name')
    if (!headerValue.test(value)) refuse(given, 'has a value with non-ASCII characters')
    if (connectionHeaders.has(name)) refuse(given, 'is not allowed in HTTP/2')
    parsed[name] = value.trim()
  }
  return parsed
}

/** Connection-specific header fields, which HTTP/2 forbids (RFC 9113, 8.2.2). */
const connectionHeaders = new Set([
  'connection',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
])

function refuse(name: string, fault: string): never {
  throw new Error(`the header "${name}" ${fault}`)
}
