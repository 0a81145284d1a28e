import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIPv4 } from 'node:net'

export interface Identity {
  /** PEM */
  readonly certificate: string
  readonly key: string
}

export interface IssueOptions {
  /** The only permitted usage of the certificate. Default: any. */
  readonly usage?: Usage
  /** From now; negative for an expired certificate. Default: one day. */
  readonly expiresInMs?: number
}

export interface Authority extends Identity {
  /** Issues a certificate for one host name (also `*.example`), IPv4 address or URI. */
  issue(name: string, options?: IssueOptions): Identity
}

/** A certificate authority for the duration of a test. */
export function createAuthority(name: string): Authority {
  const authority = newKeys()
  const isAuthority = extension(basicConstraints, sequence(der(BOOLEAN, Buffer.from([0xff]))))
  const certificate = issue(name, name, authority, authority, day, isAuthority)
  return {
    certificate,
    key: toPem(authority.privateKey),
    issue(host, { usage, expiresInMs = day } = {}) {
      const keys = newKeys()
      const extensions = [extension(altName, sequence(toGeneralName(host)))]
      if (usage) extensions.push(extension(extendedKeyUsage, sequence(oid(usages[usage]))))
      const certificate = issue(host, name, keys, authority, expiresInMs, ...extensions)
      return { certificate, key: toPem(keys.privateKey) }
    },
  }
}

interface Keys {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

function newKeys(): Keys {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
}

function toPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}

// X.509 version 3 (RFC 5280) in DER: tag, length, content.
const [BOOLEAN, INTEGER, BITS, OCTETS, OID, UTF8, SEQUENCE, SET, TIME] = [
  0x01, 0x02, 0x03, 0x04, 0x06, 0x0c, 0x30, 0x31, 0x18,
] as const
const [VERSION, EXTENSIONS] = [0xa0, 0xa3] as const
const [DNS_NAME, URI_NAME, IP_NAME] = [0x82, 0x86, 0x87] as const

const commonName = [0x55, 4, 3]
const basicConstraints = [0x55, 29, 19]
const altName = [0x55, 29, 17]
const extendedKeyUsage = [0x55, 29, 37]
const ecdsaWithSha256 = [0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2]

const usages = {
  server: [0x2b, 6, 1, 5, 5, 7, 3, 1],
  client: [0x2b, 6, 1, 5, 5, 7, 3, 2],
}
type Usage = keyof typeof usages

const hour = 3_600_000
const day = 24 * hour

function issue(
  subject: string,
  issuer: string,
  { publicKey }: Keys,
  { privateKey }: Keys,
  expiresInMs: number,
  ...extensions: readonly Buffer[]
): string {
  const algorithm = sequence(oid(ecdsaWithSha256))
  const start = Date.now() + Math.min(0, expiresInMs) - hour
  const validity = sequence(toTime(start), toTime(Date.now() + expiresInMs))
  const body = sequence(
    der(VERSION, der(INTEGER, Buffer.from([2]))),
    der(INTEGER, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    toName(issuer),
    validity,
    toName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(EXTENSIONS, sequence(...extensions)),
  )
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)])
  const base64 = sequence(body, algorithm, der(BITS, signature)).toString('base64')
  return `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content
  return Buffer.concat([Buffer.from([tag, ...toLength(length)]), content])
}

/** The shortest encoding, which BoringSSL, and therefore Envoy, requires. */
function toLength(length: number): number[] {
  if (length < 0x80) return [length]
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(SEQUENCE, Buffer.concat(parts))
}

function oid(bytes: readonly number[]): Buffer {
  return der(OID, Buffer.from(bytes))
}

function toName(name: string): Buffer {
  return sequence(der(SET, sequence(oid(commonName), der(UTF8, Buffer.from(name)))))
}

function toGeneralName(name: string): Buffer {
  if (isIPv4(name)) return der(IP_NAME, Buffer.from(name.split('.').map(Number)))
  return der(name.includes('://') ? URI_NAME : DNS_NAME, Buffer.from(name))
}

function toTime(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/\D/g, '').slice(0, 14)
  return der(TIME, Buffer.from(`${digits}Z`))
}

function extension(id: readonly number[], value: Buffer): Buffer {
  return sequence(oid(id), der(OCTETS, value))
}
