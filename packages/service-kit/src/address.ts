/** `host:port`, with brackets around an IPv6 address. */
export function toAddress(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
