/** Where the management server listens. */
export type ServerAddress =
  | { readonly path: string }
  | { readonly host: string; readonly port: number }

/** Addresses of gRPC may say how the name is resolved; all these are resolved as usual. */
const scheme = /^(?:dns|passthrough|ipv4|ipv6):(?:\/\/\/)?/

const unixPath = /^unix:(?:\/\/)?(?<path>.+)$/

const hostAndPort = /^(?:\[(?<bracketed>[^\]]+)\]|(?<plain>[^:/[\]]+)):(?<port>\d{1,5})$/

/** @throws {Error} with what to write instead. */
export function parseServerAddress(url: string): ServerAddress {
  const path = unixPath.exec(url)?.groups?.path
  if (path !== undefined) return { path }
  const { bracketed, plain, port } = hostAndPort.exec(url.replace(scheme, ''))?.groups ?? {}
  const host = bracketed ?? plain
  if (host === undefined || Number(port) > 65_535) {
    throw new Error(
      `CONFIG_GRPC_XDS_SERVER_URL: "${url}" is no address of a management server; ` +
        'write host:port, [IPv6 address]:port or unix:path',
    )
  }
  return { host, port: Number(port) }
}
