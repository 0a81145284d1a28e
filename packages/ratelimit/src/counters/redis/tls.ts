import { readFileSync } from 'node:fs'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'

export interface TlsFiles {
  /** Trusted beside the roots of the system and of Node, not instead of them. */
  readonly caFile?: string | undefined
  readonly certFile?: string | undefined
  readonly keyFile?: string | undefined
  /** The chain is still verified; only the name in the certificate may be another. */
  readonly skipHostnameVerification?: boolean | undefined
}

export interface RedisTls {
  readonly context: SecureContext
  readonly skipHostnameVerification: boolean
}

/** @throws {Error} when a file cannot be read or is no certificate or key. */
export function loadRedisTls(files: TlsFiles): RedisTls {
  const { caFile, certFile, keyFile, skipHostnameVerification = false } = files
  if (!certFile !== !keyFile) {
    throw new Error('TLS to Redis needs the client certificate and its key together, or neither')
  }
  const ca = [...getCACertificates('default'), ...getCACertificates('system')]
  if (caFile) ca.push(readPem('CA certificate', caFile))
  const own =
    certFile && keyFile
      ? { cert: readPem('client certificate', certFile), key: readPem('client key', keyFile) }
      : {}
  try {
    return { context: createSecureContext({ ca, ...own }), skipHostnameVerification }
  } catch (error) {
    const given = [caFile, certFile, keyFile].filter(Boolean).join(', ')
    throw new Error(`The TLS files for Redis do not fit (${given}): ${toText(error)}`, {
      cause: error,
    })
  }
}

function readPem(what: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Error(`The ${what} for Redis cannot be read: ${toText(error)}`, { cause: error })
  }
}

function toText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
