import { readFileSync } from 'node:fs'
import { type ConnectionOptions, checkServerIdentity } from 'node:tls'

/** As libpq has them, from no encryption to an encrypted connection to the host that was meant. */
export const sslModes = [
  'disable',
  'allow',
  'prefer',
  'require',
  'verify-ca',
  'verify-full',
] as const
export type SslMode = (typeof sslModes)[number]

export interface SslSettings {
  readonly mode: SslMode
  /** Files in PEM; `system` stands for the authorities that Node.js trusts. */
  readonly rootCertificate: string | undefined
  readonly certificate: string | undefined
  readonly key: string | undefined
  readonly keyPassword: string | undefined
}

export function isSslMode(text: string): text is SslMode {
  return sslModes.some((mode) => mode === text)
}

/** The ways to connect, best first: `true` is with TLS. */
export function toSslTries(mode: SslMode, host: string | undefined): readonly boolean[] {
  // The other end of a Unix socket is on this machine, and PostgreSQL has no TLS there.
  if (mode === 'disable' || host?.startsWith('/')) return [false]
  if (mode === 'allow') return [false, true]
  return mode === 'prefer' ? [true, false] : [true]
}

/** What is checked of the server's certificate, and what we show of ours. */
export function toTlsOptions(ssl: SslSettings, host: string | undefined): ConnectionOptions {
  const { rootCertificate, certificate, key, keyPassword } = ssl
  const authorities =
    rootCertificate === undefined || rootCertificate === 'system'
      ? {}
      : { ca: readFile('sslrootcert', rootCertificate) }
  return {
    ...authorities,
    ...(certificate !== undefined && { cert: readFile('sslcert', certificate) }),
    ...(key !== undefined && { key: readFile('sslkey', key) }),
    ...(keyPassword !== undefined && { passphrase: keyPassword }),
    ...toVerification(ssl, host ?? 'localhost'),
  }
}

function toVerification({ mode, rootCertificate }: SslSettings, host: string): ConnectionOptions {
  if (mode === 'verify-full') {
    return {
      rejectUnauthorized: true,
      checkServerIdentity: (_host, certificate) => checkServerIdentity(host, certificate),
    }
  }
  // As in libpq: with sslrootcert the certificate is verified.
  const isChecked = mode === 'verify-ca' || (mode === 'require' && rootCertificate !== undefined)
  return isChecked
    ? { rejectUnauthorized: true, checkServerIdentity: () => undefined }
    : { rejectUnauthorized: false }
}

function readFile(parameter: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`${parameter} in AUTH_DB_DATABASE_URL cannot be read: ${reason}`, {
      cause: error,
    })
  }
}

/** The file names, for a check before the start. */
export function listSslFiles(ssl: SslSettings): readonly (readonly [string, string])[] {
  const files: readonly (readonly [string, string | undefined])[] = [
    ['sslrootcert', ssl.rootCertificate === 'system' ? undefined : ssl.rootCertificate],
    ['sslcert', ssl.certificate],
    ['sslkey', ssl.key],
  ]
  return files.filter((file): file is readonly [string, string] => file[1] !== undefined)
}
