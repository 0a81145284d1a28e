import { createPublicKey, type KeyObject, sign } from 'node:crypto'

interface CertificateSettings {
  readonly host: string
  readonly isForEncryption: boolean
}

/**
 * Wraps a public key in a self-signed certificate, because SAML metadata has certificates. Its
 * fields are fixed and equal those of Supabase Auth, so that identity providers that have stored
 * the certificate of such a server keep working with this one.
 */
export function createCertificate(
  privateKey: KeyObject,
  { host, isForEncryption }: CertificateSettings,
): Buffer {
  const algorithm = sequence(objectId('2a864886f70d01010b'), Buffer.from([0x05, 0x00]))
  const name = toName(`SAML 2.0 Certificate for ${host}`)
  const certificate = sequence(
    // Version 3.
    tagged(0xa0, integer(2)),
    integer(0),
    algorithm,
    name,
    sequence(tagged(0x17, ascii('700101000000Z')), tagged(0x18, ascii('21700101000000Z'))),
    name,
    createPublicKey(privateKey).export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(keyUsage(isForEncryption), alternativeName(`_samlsp.${host}`))),
  )
  return sequence(certificate, algorithm, bitString(sign('sha256', certificate, privateKey)))
}

/** DER: the tag, the length, and the content (X.690, section 8.1). */
function tagged(tag: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag]), toLength(content.length), content])
}

function toLength(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length])
  const bytes = length < 0x100 ? [length] : [length >> 8, length & 0xff]
  return Buffer.from([0x80 | bytes.length, ...bytes])
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts))
}

function integer(value: number): Buffer {
  return tagged(0x02, Buffer.from([value]))
}

function objectId(hex: string): Buffer {
  return tagged(0x06, Buffer.from(hex, 'hex'))
}

function bitString(content: Buffer, unusedBits = 0): Buffer {
  return tagged(0x03, Buffer.concat([Buffer.from([unusedBits]), content]))
}

function ascii(text: string): Buffer {
  return Buffer.from(text, 'ascii')
}

/** A common name, as a PrintableString if it can be one. */
function toName(commonName: string): Buffer {
  const isPrintable = /^[A-Za-z\d '()+,./:=?-]*$/.test(commonName)
  const value = tagged(isPrintable ? 0x13 : 0x0c, Buffer.from(commonName))
  return sequence(tagged(0x31, sequence(objectId('550403'), value)))
}

/** digitalSignature, and dataEncipherment if assertions may be encrypted; a critical extension. */
function keyUsage(isForEncryption: boolean): Buffer {
  const bits = isForEncryption
    ? bitString(Buffer.from([0x90]), 4)
    : bitString(Buffer.from([0x80]), 7)
  const isCritical = Buffer.from([0x01, 0x01, 0xff])
  return sequence(objectId('551d0f'), isCritical, tagged(0x04, bits))
}

function alternativeName(dnsName: string): Buffer {
  return sequence(objectId('551d11'), tagged(0x04, sequence(tagged(0x82, ascii(dnsName)))))
}
