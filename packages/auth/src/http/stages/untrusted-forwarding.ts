/** Behind a proxy that is not configured all users count as one client, which operators rarely notice. */
export function toForwardingWarning(header: string, remoteAddress: string): string {
  return (
    `A request from ${remoteAddress} has the header ${header}, which is not trusted: limits, ` +
    'sessions and the audit log use the address of the connection, so that everybody behind a ' +
    `proxy shares one limit. If ${remoteAddress} is your proxy, add it to ` +
    'AUTH_TRUSTED_PROXIES (or set AUTH_TRUSTED_HOPS=1 where nobody else can connect). This is ' +
    'reported once'
  )
}
