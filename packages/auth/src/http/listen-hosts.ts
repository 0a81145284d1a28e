/** All interfaces: `::` accepts IPv4 connections as well, and some machines have no IPv6. */
const everywhere = ['::', '0.0.0.0'] as const

const notHere: ReadonlySet<unknown> = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT'])

/** The hosts to listen on, in order of preference. @param host the value of AUTH_API_HOST. */
export function toListenHosts(host: string | undefined): readonly string[] {
  return host === undefined ? everywhere : [host]
}

/** Listens on the first host that is available on this machine. */
export async function listenOnFirst<Bound>(
  hosts: readonly string[],
  listen: (host: string) => Promise<Bound>,
): Promise<Bound> {
  const [host = '', ...others] = hosts
  try {
    return await listen(host)
  } catch (error) {
    const isElsewhere = error instanceof Error && 'code' in error && notHere.has(error.code)
    if (!isElsewhere || others.length === 0) throw error
    return listenOnFirst(others, listen)
  }
}
