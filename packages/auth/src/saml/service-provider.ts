import { createPrivateKey, type KeyObject, randomBytes, sign } from 'node:crypto'
import { deflateRawSync } from 'node:zlib'
import { createCertificate } from './certificate.ts'
import { escapeXml, namespaces } from './read-xml.ts'

/** This server, as identity providers see it. */
export interface ServiceProvider {
  readonly entityId: string
  /** The assertion consumer service, to which browsers post responses. */
  readonly acsUrl: string
  /** Signs requests, and decrypts assertions if that is allowed. */
  readonly key: KeyObject
  /** The key that will replace it, which identity providers may already encrypt for. */
  readonly nextKey: KeyObject | undefined
  readonly allowsEncryption: boolean
}

interface ServiceProviderSettings {
  /** The public URL of this server. */
  readonly externalUrl: string
  readonly privateKey: KeyObject
  readonly nextPrivateKey: KeyObject | undefined
  readonly allowsEncryption: boolean
}

export function createServiceProvider(settings: ServiceProviderSettings): ServiceProvider {
  const base = `${settings.externalUrl.replace(/\/$/, '')}/sso/saml`
  return {
    entityId: `${base}/metadata`,
    acsUrl: `${base}/acs`,
    key: settings.privateKey,
    nextKey: settings.nextPrivateKey,
    allowsEncryption: settings.allowsEncryption,
  }
}

/** Parses a key in Base64 of DER, as Supabase Auth has it, or in PEM. Undefined if it is not RSA. */
export function parsePrivateKey(text: string): KeyObject | undefined {
  const isPem = text.includes('-----BEGIN')
  const der = Buffer.from(text, 'base64')
  const sources = isPem
    ? [text.replaceAll('\\n', '\n')]
    : (['pkcs1', 'pkcs8'] as const).map((type) => ({ key: der, format: 'der' as const, type }))
  for (const source of sources) {
    try {
      const key = createPrivateKey(source)
      if (key.asymmetricKeyType === 'rsa') return key
    } catch {
      // The next format may fit.
    }
  }
  return undefined
}

/** The keys that a response may be encrypted for. */
export function toDecryptionKeys(provider: ServiceProvider): readonly KeyObject[] {
  if (!provider.allowsEncryption) return []
  return provider.nextKey === undefined ? [provider.key] : [provider.key, provider.nextKey]
}

export const nameIdFormats = {
  persistent: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
  emailAddress: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
  transient: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient',
  unspecified: 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified',
} as const

interface SignInRequest {
  readonly id: string
  /** Where the browser is redirected to. */
  readonly url: string
}

interface SignInRequestSettings {
  readonly signInUrl: string
  readonly relayState: string
  readonly nameIdFormat: string
  readonly now: Date
}

const rsaSha256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256'

/** Creates a signed request with the binding HTTP-Redirect (SAML bindings, section 3.4). */
export function createSignInRequest(
  provider: ServiceProvider,
  { signInUrl, relayState, nameIdFormat, now }: SignInRequestSettings,
): SignInRequest {
  // An ID must not begin with a digit.
  const id = `id-${randomBytes(20).toString('hex')}`
  const xml = [
    `<samlp:AuthnRequest xmlns:samlp="${namespaces.protocol}" xmlns:saml="${namespaces.assertion}"`,
    ` ID="${id}" Version="2.0" IssueInstant="${now.toISOString()}"`,
    ` Destination="${escapeXml(signInUrl)}"`,
    ` AssertionConsumerServiceURL="${escapeXml(provider.acsUrl)}"`,
    ' ProtocolBinding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST">',
    `<saml:Issuer>${escapeXml(provider.entityId)}</saml:Issuer>`,
    `<samlp:NameIDPolicy Format="${escapeXml(nameIdFormat)}" AllowCreate="true"/>`,
    '</samlp:AuthnRequest>',
  ].join('')
  const parameters = [
    ['SAMLRequest', deflateRawSync(xml).toString('base64')],
    ['RelayState', relayState],
    ['SigAlg', rsaSha256],
  ] as const
  // The signature covers exactly these characters, so they are not encoded again.
  const query = parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
  const signature = sign('sha256', Buffer.from(query), provider.key).toString('base64')
  const separator = signInUrl.includes('?') ? '&' : '?'
  const url = `${signInUrl}${separator}${query}&Signature=${encodeURIComponent(signature)}`
  return { id, url }
}

/** The metadata of this server, which operators give to their identity provider. */
export function createMetadata(provider: ServiceProvider, validUntil?: Date): string {
  const { entityId, acsUrl, key, nextKey, allowsEncryption } = provider
  const host = new URL(entityId).hostname
  const keys = nextKey === undefined ? [key] : [key, nextKey]
  const uses = allowsEncryption ? ['signing', 'encryption'] : ['signing']
  const descriptors = keys.flatMap((each) => {
    const certificate = createCertificate(each, { host, isForEncryption: allowsEncryption })
    return uses.map((use) => toKeyDescriptor(use, certificate.toString('base64')))
  })
  const formats = [nameIdFormats.emailAddress, nameIdFormats.persistent]
  return [
    `<EntityDescriptor xmlns="${namespaces.metadata}" entityID="${escapeXml(entityId)}"`,
    validUntil === undefined ? '' : ` validUntil="${validUntil.toISOString()}"`,
    // While the key changes, identity providers should soon read the metadata again.
    nextKey === undefined ? '' : ' cacheDuration="PT1H"',
    '><SPSSODescriptor AuthnRequestsSigned="true" WantAssertionsSigned="true"',
    ` protocolSupportEnumeration="${namespaces.protocol}">`,
    descriptors.join(''),
    formats.map((format) => `<NameIDFormat>${format}</NameIDFormat>`).join(''),
    '<AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"',
    ` Location="${escapeXml(acsUrl)}" index="1" isDefault="true"/>`,
    '</SPSSODescriptor></EntityDescriptor>',
  ].join('')
}

function toKeyDescriptor(use: string, certificate: string): string {
  const methods =
    use === 'encryption'
      ? [
          'http://www.w3.org/2009/xmlenc11#aes256-gcm',
          'http://www.w3.org/2009/xmlenc11#aes128-gcm',
          'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p',
        ]
      : []
  return [
    `<KeyDescriptor use="${use}"><KeyInfo xmlns="${namespaces.signature}"><X509Data>`,
    `<X509Certificate>${certificate}</X509Certificate></X509Data></KeyInfo>`,
    methods.map((method) => `<EncryptionMethod Algorithm="${method}"/>`).join(''),
    '</KeyDescriptor>',
  ].join('')
}
