import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import {
  type ConnectionOptions,
  checkServerIdentity,
  createSecureContext,
  getCACertificates,
  type SecureContext,
} from 'node:tls'
import type { Log } from '@portcullis/service-kit/log'

export interface XdsTlsFiles {
  /** Our certificate for the server and its key: both or neither. */
  readonly certPath: string | undefined
  readonly keyPath: string | undefined
  /** Trusted beside the roots of the system and of Node, not instead of them. */
  readonly caPath: string | undefined
  /** What the server's certificate must be valid for, in place of the host of its address. */
  readonly serverName: string | undefined
}

/** What each connection is made with: certificates that were renewed count from the next one on. */
export type TlsOptions = () => ConnectionOptions

/** @throws {Error} when a file cannot be read or is no certificate or key. */
export function createTlsOptions(files: XdsTlsFiles, log: Log): TlsOptions {
  const naming = toNaming(files.serverName)
  let texts = readTexts(files)
  let secureContext = toContext(texts, files)

  /** Building a context takes long, for all the roots that it holds. */
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
      log.warning(`${toText(error)}; those read before are used`)
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
    throw new Error(`The file of ${variable} cannot be read: ${toText(error)}`, { cause: error })
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
    const message = `The TLS files for the management server do not fit (${given})`
    throw new Error(`${message}: ${toText(error)}`, { cause: error })
  }
}

/** The name goes into the handshake too, as in Go; an IP address may not stand there. */
function toNaming(name: string | undefined): ConnectionOptions {
  if (name === undefined) return {}
  if (isIP(name) === 0) return { servername: name }
  return { checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate) }
}

function toText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
