import { readFileSync } from 'node:fs'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'
import { toReason } from '@portcullis/service-kit/text/reason'
import type { ClientTlsConfig } from '../../tls/client-tls-settings.ts'

export interface TlsFiles {
  /** Trusted in addition to the root certificates of the system and of Node. */
  readonly caFile?: string | undefined
  readonly certFile?: string | undefined
  readonly keyFile?: string | undefined
  /** The chain is still verified; only the name in the certificate may differ. */
  readonly skipHostnameVerification?: boolean | undefined
}

export interface ClientTls {
  readonly context: SecureContext
  readonly skipHostnameVerification: boolean
}

/**
 * @param server - the name of the server in messages
 * @throws Error when a file cannot be read or is not a certificate or key
 */
export function loadClientTls(server: string, files: TlsFiles): ClientTls {
  const { caFile, certFile, keyFile, skipHostnameVerification = false } = files
  if (!certFile !== !keyFile) {
    throw new Error(
      `TLS to ${server} needs the client certificate and its key together, or neither`,
    )
  }
  const read = (what: string, file: string): string => {
    try {
      return readFileSync(file, 'utf8')
    } catch (error) {
      throw new Error(`The ${what} ${file} for ${server} cannot be read: ${toReason(error)}`, {
        cause: error,
      })
    }
  }
  const ca = [...getCACertificates('default'), ...getCACertificates('system')]
  if (caFile) ca.push(read('CA certificate', caFile))
  const clientCertificate =
    certFile && keyFile
      ? { cert: read('client certificate', certFile), key: read('client key', keyFile) }
      : {}
  try {
    return { context: createSecureContext({ ca, ...clientCertificate }), skipHostnameVerification }
  } catch (error) {
    const given = [caFile, certFile, keyFile].filter(Boolean).join(', ')
    throw new Error(`The TLS files for ${server} cannot be used (${given}): ${toReason(error)}`, {
      cause: error,
    })
  }
}

/** The files that are named in the settings. */
export function toTlsFiles(tls: ClientTlsConfig & { readonly skipsHostname: boolean }): TlsFiles {
  return {
    caFile: tls.caPath,
    certFile: tls.certPath,
    keyFile: tls.keyPath,
    skipHostnameVerification: tls.skipsHostname,
  }
}
