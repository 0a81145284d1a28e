import { toCode } from '@portcullis/service-kit/text/reason'

/** `::` accepts IPv4 connections as well, but some machines have no IPv6. */
const allInterfaces = ['::', '0.0.0.0'] as const

const unavailableCodes: ReadonlySet<string> = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT'])

/** The hosts to listen on, in order of preference. @param host the value of AUTH_API_HOST. */
export function toListenHosts(host: string | undefined): readonly string[] {
  return host === undefined ? allInterfaces : [host]
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
    if (!unavailableCodes.has(toCode(error)) || others.length === 0) throw error
    return listenOnFirst(others, listen)
  }
}
