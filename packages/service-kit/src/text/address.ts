/** `host:port`, with brackets around an IPv6 address. */
export function toAddress(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/** The path of a request target, which is a whole URL if a proxy sends it, without the query. */
export function toRequestPath(target: string): string {
  const path = target.startsWith('/') ? target : (URL.parse(target)?.pathname ?? target)
  const query = path.indexOf('?')
  return query === -1 ? path : path.slice(0, query)
}
