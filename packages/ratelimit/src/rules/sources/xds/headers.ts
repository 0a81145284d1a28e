/** What may stand in the metadata of a gRPC call. */
const headerName = /^[0-9a-z_.-]+$/
const headerValue = /^[\x20-\x7e]*$/

/**
 * CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS as they are sent.
 * @throws {Error} that names the header but not its value, which may be a secret.
 */
export function parseHeaders(headers: ReadonlyMap<string, string>): Record<string, string> {
  const parsed: Record<string, string> = {}
  for (const [given, value] of headers) {
    const name = given.trim().toLowerCase()
    if (!headerName.test(name)) refuse(given, 'has a name that no header can have')
    if (!headerValue.test(value)) refuse(given, 'has a value with characters that are not ASCII')
    if (isOfTheConnection.has(name)) refuse(given, 'has no place in HTTP/2')
    parsed[name] = value.trim()
  }
  return parsed
}

/** HTTP/2 has other means for what these say. */
const isOfTheConnection = new Set([
  'connection',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
])

function refuse(name: string, fault: string): never {
  throw new Error(`CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS: the header "${name}" ${fault}`)
}
