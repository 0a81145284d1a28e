import type { X509Certificate } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { isIP } from 'node:net'
import { dirname, resolve } from 'node:path'
import type { TlsCredentials, TlsOptions } from '@portcullis/grpc-unary'
import type { Log } from '@portcullis/service-kit/log'
import type { GrpcTlsConfig } from '../config/listeners.ts'
import { createOneAtATime, openWatch } from '../rules/sources/file/watch.ts'
import { readTlsFiles } from './tls-files.ts'

/** TLS of the gRPC listener, whose files may change while it runs (reference 11.4). */
interface GrpcTls {
  readonly options: TlsOptions
  /** Hands over what the files hold whenever that is something new and good. */
  follow(renew: (credentials: TlsCredentials) => void): AsyncDisposable
}

/** @throws {Error} when the files cannot be used: the service does not start without. */
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

interface Following {
  readonly config: GrpcTlsConfig
  /** In use at the start. */
  readonly credentials: TlsCredentials
  readonly renew: (credentials: TlsCredentials) => void
  readonly log: Log
}

function followFiles({ config, credentials, renew, log }: Following): AsyncDisposable {
  const { certPath, keyPath, clientCaPath } = config
  const paths = [certPath, keyPath, ...(clientCaPath === undefined ? [] : [clientCaPath])]
  let inUse = credentials
  /** What was wrong when the files were last looked at; said once. */
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
      const reason = error instanceof Error ? error.message : String(error)
      // What was read while it changed need not fit together; the change itself brings us back.
      if (!isSteady || reason === fault) return
      fault = reason
      log.error(`The gRPC listener keeps its TLS certificate, the new one is no good: ${reason}`)
    }
  }

  const reloads = createOneAtATime(reload)
  const watches = [...new Set(paths.map((path) => dirname(resolve(path))))].map((directory) =>
    openWatch({
      directory,
      // Whatever happens there: in a Kubernetes secret not the files change but a link beside them.
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

/** Undefined while one of them is not there. */
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
    log.warning(`${what} is over since ${end.toISOString()}: callers will refuse it`)
  } else if (end.getTime() < nowMs + warningDays * dayMs) {
    const days = ((end.getTime() - nowMs) / dayMs).toFixed(1)
    log.warning(`${what} ends in ${days} days, on ${end.toISOString()}`)
  } else if (start.getTime() > nowMs) {
    log.warning(`${what} begins on ${start.toISOString()}: callers will refuse it until then`)
  }
}

const clientAuthentication = '1.3.6.1.5.5.7.3.2'
const anyUsage = '2.5.29.37.0'

/**
 * The check of GRPC_CLIENT_TLS_SAN (reference 11.4): a DNS name, with the wildcards of the
 * certificate, an IP address, or a URI such as a SPIFFE identity. The common name does not count.
 *
 * @returns why a caller is refused; undefined where it is welcome.
 */
function refuseCaller(certificate: X509Certificate | undefined, name: string): string | undefined {
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
