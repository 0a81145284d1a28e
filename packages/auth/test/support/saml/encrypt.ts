import {
  constants,
  createCipheriv,
  createPublicKey,
  type KeyObject,
  publicEncrypt,
  randomBytes,
} from 'node:crypto'

interface EncryptionOptions {
  readonly key: KeyObject
  readonly content?: 'gcm' | 'cbc'
  readonly transport?: 'oaep' | 'pkcs1'
}

const xmlenc = 'http://www.w3.org/2001/04/xmlenc#'

/** Encrypts an assertion as identity providers do (XML Encryption 1.1). */
export function encryptAssertion(
  assertion: string,
  { key, content = 'gcm', transport = 'oaep' }: EncryptionOptions,
): string {
  const contentKey = randomBytes(32)
  const wrapped = publicEncrypt(
    {
      key: createPublicKey(key),
      ...(transport === 'oaep'
        ? { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha1' }
        : { padding: constants.RSA_PKCS1_PADDING }),
    },
    contentKey,
  )
  const method = transport === 'oaep' ? 'rsa-oaep-mgf1p' : 'rsa-1_5'
  const algorithm =
    content === 'gcm' ? 'http://www.w3.org/2009/xmlenc11#aes256-gcm' : `${xmlenc}aes256-cbc`
  const encrypted =
    content === 'gcm' ? encryptGcm(assertion, contentKey) : encryptCbc(assertion, contentKey)
  const toValue = (bytes: Buffer) =>
    `<xenc:CipherData><xenc:CipherValue>${bytes.toString('base64')}</xenc:CipherValue></xenc:CipherData>`
  return [
    `<saml:EncryptedAssertion><xenc:EncryptedData xmlns:xenc="${xmlenc}"`,
    ` Type="${xmlenc}Element"><xenc:EncryptionMethod Algorithm="${algorithm}"/>`,
    '<ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><xenc:EncryptedKey>',
    `<xenc:EncryptionMethod Algorithm="${xmlenc}${method}"/>${toValue(wrapped)}`,
    `</xenc:EncryptedKey></ds:KeyInfo>${toValue(encrypted)}`,
    '</xenc:EncryptedData></saml:EncryptedAssertion>',
  ].join('')
}

function encryptGcm(text: string, key: Buffer): Buffer {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  const body = Buffer.concat([cipher.update(text), cipher.final()])
  return Buffer.concat([nonce, body, cipher.getAuthTag()])
}

function encryptCbc(text: string, key: Buffer): Buffer {
  const iv = randomBytes(16)
  const cipher = createCipheriv('aes-256-cbc', key, iv)
  return Buffer.concat([iv, cipher.update(text), cipher.final()])
}
