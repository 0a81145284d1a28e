import type { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'

const clientAuthentication = '1.3.6.1.5.5.7.3.2'
const anyUsage = '2.5.29.37.0'

/**
 * The check of GRPC_CLIENT_TLS_SAN (reference 11.4): a DNS name, with the wildcards of the
 * certificate, an IP address, or a URI such as a SPIFFE identity. The common name does not count.
 *
 * @returns why a caller is refused; undefined where it is welcome.
 */
export function refuseCaller(
  certificate: X509Certificate | undefined,
  name: string,
): string | undefined {
  if (certificate === undefined) return 'it showed no certificate'
  // Node says undefined for a certificate that may be used for anything.
  const usages: readonly string[] | undefined = certificate.keyUsage
  const isForClients = usages?.some((usage) => usage === clientAuthentication || usage === anyUsage)
  if (isForClients === false) return 'its certificate is not for client authentication'
  if (isFor(certificate, name)) return undefined
  const names = certificate.subjectAltName ?? 'no name'
  return `its certificate is for ${names}, not for ${name}`
}

function isFor(certificate: X509Certificate, name: string): boolean {
  if (name.includes('://')) return toUris(certificate.subjectAltName ?? '').includes(name)
  if (isIP(name) !== 0) return certificate.checkIP(name) !== undefined
  // OpenSSL takes a leading dot for "any name below".
  if (name.startsWith('.')) return false
  const options = { subject: 'never', partialWildcards: false } as const
  return certificate.checkHost(name, options) !== undefined
}

/** From `DNS:a.example, URI:"spiffe://a/b\u002cc"`: what could be taken for more is quoted. */
function toUris(alternativeNames: string): string[] {
  const entries = alternativeNames.matchAll(/([^:,]+):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/g)
  return [...entries].flatMap(([, kind, value = '']) => {
    if (kind !== 'URI') return []
    return [value.startsWith('"') ? String(JSON.parse(value)) : value]
  })
}
