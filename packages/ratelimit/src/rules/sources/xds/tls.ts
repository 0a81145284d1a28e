import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import {
  type ConnectionOptions,
  checkServerIdentity,
  createSecureContext,
  getCACertificates,
  type SecureContext,
} from 'node:tls'
import type { Log } from '@portcullis/service-kit/log/log'
import { toReason } from '@portcullis/service-kit/text/reason'

export interface XdsTlsFiles {
  /** The client certificate and its key: both or neither. */
  readonly certPath: string | undefined
  readonly keyPath: string | undefined
  /** Trusted in addition to the root certificates of the system and of Node. */
  readonly caPath: string | undefined
  /** The name that the server's certificate must be valid for, instead of the host of its address. */
  readonly serverName: string | undefined
}

/** Returns the options of a new connection, which uses renewed certificates. */
export type TlsOptions = () => ConnectionOptions

/** @throws Error when a file cannot be read or is not a certificate or key */
export function createTlsOptions(files: XdsTlsFiles, log: Log): TlsOptions {
  const naming = toNaming(files.serverName)
  let texts = readTexts(files)
  let secureContext = toContext(texts, files)

  /**
   * A context is reused while the files are unchanged: creating one takes long, because of its many root
   * certificates.
   */
  function refresh(): void {
    const found = readTexts(files)
    if (found.ca === texts.ca && found.cert === texts.cert && found.key === texts.key) return
    secureContext = toContext(found, files)
    texts = found
  }

  return () => {
    try {
      refresh()
    } catch (error) {
      log.warning(`${toReason(error)}; the files that were read before are used`)
    }
    return { secureContext, ALPNProtocols: ['h2'], ...naming }
  }
}

interface Texts {
  readonly ca: string | undefined
  readonly cert: string | undefined
  readonly key: string | undefined
}

function readTexts({ caPath, certPath, keyPath }: XdsTlsFiles): Texts {
  return {
    ca: readPem('CONFIG_GRPC_XDS_SERVER_TLS_CACERT', caPath),
    cert: readPem('CONFIG_GRPC_XDS_CLIENT_TLS_CERT', certPath),
    key: readPem('CONFIG_GRPC_XDS_CLIENT_TLS_KEY', keyPath),
  }
}

function readPem(variable: string, path: string | undefined): string | undefined {
  if (path === undefined) return undefined
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Error(`The file ${path} of ${variable} cannot be read: ${toReason(error)}`, {
      cause: error,
    })
  }
}

function toContext({ ca, cert, key }: Texts, files: XdsTlsFiles): SecureContext {
  const roots = [...getCACertificates('default'), ...getCACertificates('system')]
  try {
    return createSecureContext({
      ca: ca === undefined ? roots : [...roots, ca],
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
    })
  } catch (error) {
    const given = [files.caPath, files.certPath, files.keyPath].filter(Boolean).join(', ')
    const message = `The TLS files for the management server cannot be used (${given})`
    throw new Error(`${message}: ${toReason(error)}`, { cause: error })
  }
}

/** The name is also sent in the handshake, as in Go, except for an IP address, which is not allowed there. */
function toNaming(name: string | undefined): ConnectionOptions {
  if (name === undefined) return {}
  if (isIP(name) === 0) return { servername: name }
  return { checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate) }
}
