/** All interfaces: `::` takes connections of IPv4 as well, and some machines have no IPv6. */
const everywhere = ['::', '0.0.0.0'] as const

const notHere: ReadonlySet<unknown> = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT'])

/** Where to listen, in the order of preference. @param host of AUTH_API_HOST. */
export function toListenHosts(host: string | undefined): readonly string[] {
  return host === undefined ? everywhere : [host]
}

/** Listens on the first host that this machine has. */
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
