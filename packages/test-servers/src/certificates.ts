import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIPv4 } from 'node:net'

export interface Identity {
  /** PEM */
  readonly certificate: string
  readonly key: string
}

export interface Authority extends Identity {
  /** A certificate for one host name or IPv4 address. */
  issue(name: string): Identity
}

/** A certificate authority that lives as long as a test. */
export function createAuthority(name: string): Authority {
  const authority = newKeys()
  const isAuthority = extension(basicConstraints, sequence(der(BOOLEAN, Buffer.from([0xff]))))
  const certificate = issue(name, name, authority, authority, isAuthority)
  return {
    certificate,
    key: toPem(authority.privateKey),
    issue(host) {
      const keys = newKeys()
      const bytes = isIPv4(host) ? Buffer.from(host.split('.').map(Number)) : Buffer.from(host)
      const alternative = sequence(der(isIPv4(host) ? IP_NAME : DNS_NAME, bytes))
      const certificate = issue(host, name, keys, authority, extension(altName, alternative))
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

// X.509 version 3 (RFC 5280) in DER: a tag, a length, and what they announce.
const [BOOLEAN, INTEGER, BITS, OCTETS, OID, UTF8, SEQUENCE, SET, TIME] = [
  0x01, 0x02, 0x03, 0x04, 0x06, 0x0c, 0x30, 0x31, 0x18,
] as const
const [VERSION, EXTENSIONS, DNS_NAME, IP_NAME] = [0xa0, 0xa3, 0x82, 0x87] as const

const commonName = [0x55, 4, 3]
const basicConstraints = [0x55, 29, 19]
const altName = [0x55, 29, 17]
const ecdsaWithSha256 = [0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2]

function issue(
  subject: string,
  issuer: string,
  { publicKey }: Keys,
  { privateKey }: Keys,
  extensions: Buffer,
): string {
  const algorithm = sequence(oid(ecdsaWithSha256))
  const hour = 3_600_000
  const validity = sequence(toTime(Date.now() - hour), toTime(Date.now() + 24 * hour))
  const body = sequence(
    der(VERSION, der(INTEGER, Buffer.from([2]))),
    der(INTEGER, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    toName(issuer),
    validity,
    toName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(EXTENSIONS, sequence(extensions)),
  )
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)])
  const base64 = sequence(body, algorithm, der(BITS, signature)).toString('base64')
  return `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content
  const head = length < 128 ? [tag, length] : [tag, 0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from(head), content])
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

function toTime(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/\D/g, '').slice(0, 14)
  return der(TIME, Buffer.from(`${digits}Z`))
}

function extension(id: readonly number[], value: Buffer): Buffer {
  return sequence(oid(id), der(OCTETS, value))
}
