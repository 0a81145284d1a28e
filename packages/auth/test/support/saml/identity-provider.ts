import { generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'
import { inflateRawSync } from 'node:zlib'
import { SignedXml } from 'xml-crypto'
import { createCertificate } from '../../../src/saml/certificate.ts'

export const protocol = 'urn:oasis:names:tc:SAML:2.0:protocol'
export const assertionNamespace = 'urn:oasis:names:tc:SAML:2.0:assertion'
const rsaSha256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256'
const sha256 = 'http://www.w3.org/2001/04/xmlenc#sha256'
const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#'
const enveloped = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature'

export function createKey(): KeyObject {
  return generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey
}

export function createEcKey(namedCurve: string): KeyObject {
  return generateKeyPairSync('ec', { namedCurve }).privateKey
}

const ecdsa = 'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha'

/** The library that signs has no ECDSA. */
function toEcdsa(bits: string, key: KeyObject, dsaEncoding: SignatureOptions['dsaEncoding']) {
  return class {
    getAlgorithmName = () => `${ecdsa}${bits}`
    verifySignature = () => false
    getSignature = (text: string) =>
      sign(`sha${bits}`, Buffer.from(text), {
        key,
        dsaEncoding: dsaEncoding ?? 'ieee-p1363',
      }).toString('base64')
  }
}

export interface AssertionOptions {
  readonly id?: string
  readonly requestId?: string | undefined
  readonly nameId?: string
  readonly nameIdFormat?: string
  readonly attributes?: Readonly<Record<string, readonly string[]>>
  readonly audience?: string
  readonly recipient?: string
  readonly issuer?: string
  readonly nowMs: number
  /** How long the assertion is valid. */
  readonly lifetimeMs?: number
  readonly sessionNotAfter?: Date
  /** Further elements of the subject. */
  readonly subject?: string
}

export interface ResponseOptions extends AssertionOptions {
  readonly destination?: string
  /** What is signed. Default: the assertion. */
  readonly signed?: 'assertion' | 'response' | 'both' | 'nothing'
  readonly key?: KeyObject
  readonly status?: string
  /** Changes the assertion before the response is assembled. */
  readonly wrap?: (assertion: string) => string
}

export interface SignatureOptions {
  readonly key: KeyObject
  readonly signatureAlgorithm?: string
  /** How ECDSA signatures are encoded. */
  readonly dsaEncoding?: 'ieee-p1363' | 'der'
  readonly digestAlgorithm?: string
  readonly transforms?: readonly string[]
  /** Namespaces that are signed although no name uses them. */
  readonly prefixes?: readonly string[]
}

/** Signs the element with this ID, which gets the signature after its issuer. */
export function signElement(xml: string, id: string, options: SignatureOptions): string {
  const { key, digestAlgorithm = sha256 } = options
  const isEc = key.asymmetricKeyType === 'ec'
  const { signatureAlgorithm = isEc ? `${ecdsa}256` : rsaSha256 } = options
  const element = `//*[@ID='${id}']`
  const signed = new SignedXml({
    privateKey: key.export({ type: 'pkcs8', format: 'pem' }),
    signatureAlgorithm,
    canonicalizationAlgorithm: exclusive,
  })
  if (signatureAlgorithm.startsWith(ecdsa)) {
    const bits = signatureAlgorithm.slice(ecdsa.length)
    signed.SignatureAlgorithms[signatureAlgorithm] = toEcdsa(bits, key, options.dsaEncoding)
  }
  signed.addReference({
    xpath: element,
    digestAlgorithm,
    transforms: [...(options.transforms ?? [enveloped, exclusive])],
    inclusiveNamespacesPrefixList: [...(options.prefixes ?? [])],
  })
  signed.computeSignature(xml, {
    prefix: 'ds',
    location: { reference: `${element}/*[local-name(.)='Issuer']`, action: 'after' },
  })
  return signed.getSignedXml()
}

export interface TestIdentityProvider {
  readonly entityId: string
  readonly key: KeyObject
  /** @param keys default: the key of the provider. */
  metadata(keys?: readonly KeyObject[], attributes?: string): string
  createAssertion(options: AssertionOptions): string
  createResponse(options: ResponseOptions): string
}

/** An identity provider that can also send what a real one never would. */
export function createIdentityProvider(
  acsUrl: string,
  audience: string,
  entityId = `https://idp.example/${randomUUID()}`,
): TestIdentityProvider {
  const providerKey = createKey()
  const createAssertion = (options: AssertionOptions) => {
    const { nowMs, lifetimeMs = 300_000, requestId, attributes = {} } = options
    const { nameIdFormat = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent' } = options
    const at = (ms: number) => new Date(ms).toISOString()
    const end = at(nowMs + lifetimeMs)
    const { sessionNotAfter } = options
    return [
      `<saml:Assertion xmlns:saml="${assertionNamespace}" ID="${options.id ?? `_${randomUUID()}`}"`,
      ` Version="2.0" IssueInstant="${at(nowMs)}">`,
      `<saml:Issuer>${options.issuer ?? entityId}</saml:Issuer><saml:Subject>`,
      `<saml:NameID Format="${nameIdFormat}">${options.nameId ?? 'someone'}</saml:NameID>`,
      '<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer">',
      `<saml:SubjectConfirmationData NotOnOrAfter="${end}"`,
      ` Recipient="${options.recipient ?? acsUrl}"`,
      requestId === undefined ? '' : ` InResponseTo="${requestId}"`,
      `/></saml:SubjectConfirmation>${options.subject ?? ''}</saml:Subject>`,
      `<saml:Conditions NotBefore="${at(nowMs - 30_000)}" NotOnOrAfter="${end}">`,
      `<saml:AudienceRestriction><saml:Audience>${options.audience ?? audience}</saml:Audience>`,
      '</saml:AudienceRestriction></saml:Conditions>',
      `<saml:AuthnStatement AuthnInstant="${at(nowMs)}"`,
      sessionNotAfter === undefined
        ? ''
        : ` SessionNotOnOrAfter="${sessionNotAfter.toISOString()}"`,
      '><saml:AuthnContext><saml:AuthnContextClassRef>',
      'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport',
      '</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>',
      `<saml:AttributeStatement>${toAttributes(attributes)}</saml:AttributeStatement>`,
      '</saml:Assertion>',
    ].join('')
  }
  return {
    entityId,
    key: providerKey,
    createAssertion,
    metadata(keys = [providerKey], attributes = '') {
      const descriptors = keys.map((key) => {
        const certificate = createCertificate(key, { host: 'idp.example', isForEncryption: false })
        return [
          '<md:KeyDescriptor use="signing"><ds:KeyInfo><ds:X509Data><ds:X509Certificate>',
          `${certificate.toString('base64')}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>`,
          '</md:KeyDescriptor>',
        ].join('')
      })
      return [
        '<?xml version="1.0" encoding="UTF-8"?><!-- as some products write it -->',
        '<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata"',
        ` xmlns:ds="http://www.w3.org/2000/09/xmldsig#" entityID="${entityId}" ${attributes}>`,
        `<md:IDPSSODescriptor protocolSupportEnumeration="${protocol}">${descriptors.join('')}`,
        '<md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"',
        ' Location="https://idp.example/sso?tenant=1"/>',
        '</md:IDPSSODescriptor></md:EntityDescriptor>',
      ].join('')
    },
    createResponse(options) {
      const { key = providerKey, signed = 'assertion', requestId, nowMs } = options
      const { status = 'Success', wrap = (assertion) => assertion } = options
      const assertionId = options.id ?? `_${randomUUID()}`
      const responseId = `_${randomUUID()}`
      const plain = createAssertion({ ...options, id: assertionId })
      const inner =
        signed === 'assertion' || signed === 'both'
          ? signElement(plain, assertionId, { key })
          : plain
      const response = [
        `<samlp:Response xmlns:samlp="${protocol}" xmlns:saml="${assertionNamespace}"`,
        ` ID="${responseId}" Version="2.0" IssueInstant="${new Date(nowMs).toISOString()}"`,
        ` Destination="${options.destination ?? acsUrl}"`,
        requestId === undefined ? '' : ` InResponseTo="${requestId}"`,
        `><saml:Issuer>${options.issuer ?? entityId}</saml:Issuer><samlp:Status>`,
        `<samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:${status}"/></samlp:Status>`,
        `${wrap(inner)}</samlp:Response>`,
      ].join('')
      return signed === 'response' || signed === 'both'
        ? signElement(response, responseId, { key })
        : response
    },
  }
}

function toAttributes(attributes: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(attributes)
    .map(([name, values]) => {
      const texts = values.map((value) => `<saml:AttributeValue>${value}</saml:AttributeValue>`)
      return `<saml:Attribute Name="${name}">${texts.join('')}</saml:Attribute>`
    })
    .join('')
}

/** The request in the URL that the browser is redirected to. */
export function readRequest(url: string) {
  const { searchParams } = new URL(url)
  const xml = inflateRawSync(
    Buffer.from(searchParams.get('SAMLRequest') ?? '', 'base64'),
  ).toString()
  return {
    xml,
    id: /\bID="([^"]+)"/.exec(xml)?.[1] ?? '',
    relayState: searchParams.get('RelayState') ?? '',
  }
}
