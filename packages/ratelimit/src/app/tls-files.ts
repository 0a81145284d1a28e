import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { createSecureContext } from 'node:tls'
import type { TlsCredentials } from '@portcullis/grpc-unary'
import { toCode, toReason } from '@portcullis/service-kit/text/reason'
import type { GrpcTlsConfig } from '../config/listeners.ts'

/** The content of the TLS files of the gRPC listener, checked for consistency. */
export interface LoadedTls {
  readonly credentials: TlsCredentials
  /** The server certificate. */
  readonly certificate: X509Certificate
}

/**
 * @throws Error that names the variable and the file. OpenSSL treats an empty or truncated file as one
 * without certificates, and would then trust no client, or every client.
 */
export async function readTlsFiles(config: GrpcTlsConfig): Promise<LoadedTls> {
  const { certPath, keyPath, clientCaPath } = config
  requireOneDirectory(config)
  const certText = await read('GRPC_SERVER_TLS_CERT', certPath)
  const keyText = await read('GRPC_SERVER_TLS_KEY', keyPath)
  const caText =
    clientCaPath === undefined ? undefined : await read('GRPC_CLIENT_TLS_CACERT', clientCaPath)

  const [certificate] = parseCertificates('GRPC_SERVER_TLS_CERT', certPath, certText)
  const key = parseKey(keyPath, keyText)
  if (!certificate.checkPrivateKey(key)) {
    throw new Error(
      `the key in ${keyPath} (GRPC_SERVER_TLS_KEY) does not belong to the certificate in ` +
        `${certPath} (GRPC_SERVER_TLS_CERT)`,
    )
  }
  if (clientCaPath !== undefined && caText !== undefined) {
    parseCertificates('GRPC_CLIENT_TLS_CACERT', clientCaPath, caText)
  }
  const credentials = {
    cert: certText,
    key: keyText,
    ...(caText !== undefined && { ca: caText }),
  }
  try {
    createSecureContext(credentials)
  } catch (error) {
    throw new Error(`GRPC_SERVER_TLS_CERT: ${certPath} cannot be used (${toReason(error)})`, {
      cause: error,
    })
  }
  return { credentials, certificate }
}

/** As in envoyproxy/ratelimit, both files are in one directory, so that they are replaced together. */
function requireOneDirectory({ certPath, keyPath }: GrpcTlsConfig): void {
  const [certFolder, keyFolder] = [dirname(resolve(certPath)), dirname(resolve(keyPath))]
  if (certFolder === keyFolder) return
  throw new Error(
    'certFile and keyFile must be in the same directory: GRPC_SERVER_TLS_CERT is in ' +
      `${certFolder}, GRPC_SERVER_TLS_KEY in ${keyFolder}`,
  )
}

async function read(variable: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new Error(`${variable}: ${path} cannot be read (${toReason(error)})`, { cause: error })
  }
}

const anyBegin = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/g
const anyCertificate =
  /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[^-]+-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g

function parseCertificates(
  variable: string,
  path: string,
  text: string,
): [X509Certificate, ...X509Certificate[]] {
  const blocks = text.match(anyCertificate) ?? []
  if (blocks.length < (text.match(anyBegin)?.length ?? 0)) {
    throw new Error(`${variable}: ${path} ends in the middle of a certificate`)
  }
  const [first, ...others] = blocks.map((block) => {
    try {
      return new X509Certificate(block)
    } catch (error) {
      throw new Error(`${variable}: ${path} contains an invalid certificate (${toReason(error)})`, {
        cause: error,
      })
    }
  })
  if (first === undefined) throw new Error(`${variable}: ${path} contains no certificate (PEM)`)
  return [first, ...others]
}

function parseKey(path: string, text: string): KeyObject {
  try {
    return createPrivateKey(text)
  } catch (error) {
    const what =
      toCode(error) === 'ERR_MISSING_PASSPHRASE'
        ? 'contains an encrypted key; the key must have no passphrase'
        : `contains no usable private key (PEM; ${toReason(error)})`
    throw new Error(`GRPC_SERVER_TLS_KEY: ${path} ${what}`, { cause: error })
  }
}
