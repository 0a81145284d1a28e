import type { X509Certificate } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { isIP } from 'node:net'
import { dirname, resolve } from 'node:path'
import type { TlsCredentials, TlsOptions } from '@portcullis/grpc-unary'
import type { Log } from '@portcullis/service-kit/log/log'
import { toReason } from '@portcullis/service-kit/text/reason'
import type { GrpcTlsConfig } from '../config/listeners.ts'
import { createOneAtATime, openWatch } from '../rules/sources/file/watch.ts'
import { readTlsFiles } from './tls-files.ts'

/** TLS of the gRPC listener, whose files may change while the service runs. */
interface GrpcTls {
  readonly options: TlsOptions
  /** Calls back with new credentials whenever the files change and are valid. */
  follow(renew: (credentials: TlsCredentials) => void): AsyncDisposable
}

/** @throws Error when the files cannot be used: the service must not start without TLS then */
export async function loadGrpcTls(config: GrpcTlsConfig, log: Log): Promise<GrpcTls> {
  const { clientCaPath, clientSan } = config
  const { credentials, certificate } = await readTlsFiles(config)
  warnOfEnd(config, certificate, log)
  return {
    options: {
      ...credentials,
      requestCert: clientCaPath !== undefined,
      ...(clientSan !== undefined && { refusePeer: (peer) => refuseCaller(peer, clientSan) }),
    },
    follow: (renew) => followFiles({ config, credentials, renew, log }),
  }
}

interface FollowSettings {
  readonly config: GrpcTlsConfig
  /** The credentials at startup. */
  readonly credentials: TlsCredentials
  readonly renew: (credentials: TlsCredentials) => void
  readonly log: Log
}

function followFiles({ config, credentials, renew, log }: FollowSettings): AsyncDisposable {
  const { certPath, keyPath, clientCaPath } = config
  const paths = [certPath, keyPath, ...(clientCaPath === undefined ? [] : [clientCaPath])]
  let inUse = credentials
  /** The error of the last check, which is logged only once. */
  let fault: string | undefined

  async function reload(): Promise<void> {
    const before = await fingerprintFiles(paths)
    try {
      const loaded = await readTlsFiles(config)
      fault = undefined
      if (isSame(loaded.credentials, inUse)) return
      renew(loaded.credentials)
      inUse = loaded.credentials
      log.info(`The gRPC listener uses the new TLS files in ${dirname(certPath)}`)
      warnOfEnd(config, loaded.certificate, log)
    } catch (error) {
      const isSteady = before === (await fingerprintFiles(paths))
      const reason = toReason(error)
      // Files that change while they are read may not match; the change triggers another check.
      if (!isSteady || reason === fault) return
      fault = reason
      log.error(
        `The gRPC listener keeps its TLS certificate because the new files cannot be used: ${reason}`,
      )
    }
  }

  const reloads = createOneAtATime(reload)
  const watches = [...new Set(paths.map((path) => dirname(resolve(path))))].map((directory) =>
    openWatch({
      directory,
      // The whole folder is watched: in a Kubernetes secret, a symbolic link beside the files changes.
      entry: undefined,
      fingerprint: () => fingerprintFiles(paths),
      onChange: () => reloads.request(),
      debounceMs: 100,
      pollMs: 1_000,
      log,
    }),
  )
  return {
    async [Symbol.asyncDispose]() {
      for (const watch of watches) watch[Symbol.dispose]()
      await reloads.close()
    },
  }
}

function isSame(one: TlsCredentials, other: TlsCredentials): boolean {
  return one.cert === other.cert && one.key === other.key && one.ca === other.ca
}

/** Returns undefined while one of the files is missing. */
async function fingerprintFiles(paths: readonly string[]): Promise<string | undefined> {
  try {
    const found = await Promise.all(paths.map((path) => stat(path, { bigint: true })))
    return found.map(({ dev, ino, size, ctimeNs }) => `${dev} ${ino} ${size} ${ctimeNs}`).join()
  } catch {
    return undefined
  }
}

const dayMs = 86_400_000
const warningDays = 7

function warnOfEnd({ certPath }: GrpcTlsConfig, certificate: X509Certificate, log: Log): void {
  const end = certificate.validToDate
  const start = certificate.validFromDate
  const nowMs = Date.now()
  const what = `The certificate of the gRPC listener (${certPath})`
  if (end.getTime() <= nowMs) {
    log.warning(`${what} expired on ${end.toISOString()}: clients will refuse it`)
  } else if (end.getTime() < nowMs + warningDays * dayMs) {
    const days = ((end.getTime() - nowMs) / dayMs).toFixed(1)
    log.warning(`${what} expires in ${days} days, on ${end.toISOString()}`)
  } else if (start.getTime() > nowMs) {
    log.warning(
      `${what} is not valid before ${start.toISOString()}: clients will refuse it until then`,
    )
  }
}

const clientAuthentication = '1.3.6.1.5.5.7.3.2'
const anyUsage = '2.5.29.37.0'

/**
 * Checks a client certificate against GRPC_CLIENT_TLS_SAN: a DNS name, which wildcards in the certificate
 * may match, an IP address, or a URI such as a SPIFFE identity. The common name is ignored.
 *
 * @returns why the client is refused; undefined if it is accepted
 */
function refuseCaller(certificate: X509Certificate | undefined, name: string): string | undefined {
  if (certificate === undefined) return 'it presented no certificate'
  // Node returns undefined for a certificate without restrictions on its usage.
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
  // For OpenSSL, a leading dot matches any subdomain.
  if (name.startsWith('.')) return false
  const options = { subject: 'never', partialWildcards: false } as const
  return certificate.checkHost(name, options) !== undefined
}

/** Parses `DNS:a.example, URI:"spiffe://a/b\u002cc"`: Node quotes values with special characters. */
function toUris(alternativeNames: string): string[] {
  const entries = alternativeNames.matchAll(/([^:,]+):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/g)
  return [...entries].flatMap(([, kind, value = '']) => {
    if (kind !== 'URI') return []
    return [value.startsWith('"') ? String(JSON.parse(value)) : value]
  })
}
