import { type KeyObject, X509Certificate } from 'node:crypto'
import { parseXml, type XmlElement, type XmlLimits } from './parse-xml.ts'
import {
  findChild,
  findChildren,
  isElement,
  readText,
  readTime,
  requireAttribute,
  requireChild,
} from './read-xml.ts'
import { SamlError } from './saml-error.ts'
import { acceptedKeys, isAcceptedKey } from './signature-methods.ts'

/** What the metadata of an identity provider says. */
export interface IdentityProvider {
  readonly entityId: string
  /** Where browsers are redirected to. */
  readonly signInUrl: string
  /** Any of them may sign. There are several while the provider changes its key. */
  readonly signingKeys: readonly KeyObject[]
  /** Milliseconds since the epoch; undefined if the metadata does not expire. */
  readonly validUntilMs: number | undefined
  /** How long the metadata may be cached; undefined if it does not say. */
  readonly cacheMs: number | undefined
}

export const mostMetadataCharacters = 512 * 1_024

const metadataLimits: XmlLimits = {
  mostCharacters: mostMetadataCharacters,
  mostElements: 5_000,
  mostDepth: 32,
  allowsComments: true,
}

const redirectBinding = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect'
/** SAML metadata, section 2.2.1. */
const longestEntityId = 1_024

/** Parses the metadata of one identity provider. @throws {SamlError} */
export function parseMetadata(text: string): IdentityProvider {
  const root = parseXml(text, metadataLimits)
  const entity = findEntity(root)
  const roles = findChildren(entity, 'metadata', 'IDPSSODescriptor')
  const [role, ...more] = roles
  if (role === undefined) throw new SamlError('the metadata has no IDPSSODescriptor')
  if (more.length > 0) throw new SamlError('the metadata has several IDPSSODescriptor elements')
  const expiries = [root, entity, role].map((element) => readTime(element, 'validUntil'))
  const known = expiries.filter((time) => time !== undefined)
  return {
    entityId: readEntityId(entity),
    signInUrl: readSignInUrl(role),
    signingKeys: readSigningKeys(role),
    validUntilMs: known.length === 0 ? undefined : Math.min(...known),
    cacheMs: parseCacheDuration(entity.attributes.get('cacheDuration')),
  }
}

/** Some providers put their only entity into a list. */
function findEntity(root: XmlElement): XmlElement {
  if (isElement(root, 'metadata', 'EntityDescriptor')) return root
  if (!isElement(root, 'metadata', 'EntitiesDescriptor')) {
    throw new SamlError('the metadata has no EntityDescriptor')
  }
  return requireChild(root, 'metadata', 'EntityDescriptor')
}

function readEntityId(entity: XmlElement): string {
  const entityId = requireAttribute(entity, 'entityID')
  if (entityId.length <= longestEntityId) return entityId
  throw new SamlError(`the entityID is longer than ${longestEntityId} characters`)
}

function readSignInUrl(role: XmlElement): string {
  const service = findChildren(role, 'metadata', 'SingleSignOnService').find(
    ({ attributes }) => attributes.get('Binding') === redirectBinding,
  )
  if (service === undefined) {
    throw new SamlError('the metadata has no SingleSignOnService with the binding HTTP-Redirect')
  }
  const url = URL.parse(requireAttribute(service, 'Location'))
  if (url !== null && (url.protocol === 'https:' || url.protocol === 'http:')) return url.href
  throw new SamlError('the Location of SingleSignOnService is not a web URL')
}

function readSigningKeys(role: XmlElement): readonly KeyObject[] {
  const certificates = findChildren(role, 'metadata', 'KeyDescriptor')
    .filter(({ attributes }) => (attributes.get('use') ?? 'signing') === 'signing')
    .flatMap((descriptor) => findChildren(descriptor, 'signature', 'KeyInfo'))
    .flatMap((info) => findChildren(info, 'signature', 'X509Data'))
    .flatMap((data) => findChildren(data, 'signature', 'X509Certificate'))
  const keys = certificates.map(({ text }) => readKey(text))
  if (keys.length === 0) throw new SamlError('the metadata has no certificate for signatures')
  if (keys.length > 10) throw new SamlError('the metadata has more than 10 certificates')
  return keys
}

/**
 * Only the key is used. Identity providers publish self-signed certificates and keep using them
 * after they have expired; the metadata itself says which keys are valid.
 */
function readKey(text: string): KeyObject {
  const key = parseCertificate(text).publicKey
  if (isAcceptedKey(key)) return key
  throw new SamlError(`the keys in the metadata must be ${acceptedKeys}`)
}

function parseCertificate(text: string): X509Certificate {
  try {
    return new X509Certificate(Buffer.from(text, 'base64'))
  } catch {
    throw new SamlError('the metadata has an invalid X509Certificate')
  }
}

/** Durations in years and months are not used for caches and count as absent. */
function parseCacheDuration(text = ''): number | undefined {
  const [, days, hours, minutes, seconds] =
    /^P(?:(\d{1,4})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,6})M)?(?:(\d{1,8})(?:\.\d+)?S)?)?$/.exec(text) ??
    []
  const parts = [days, hours, minutes, seconds].map((part) => Number(part ?? 0))
  const [d = 0, h = 0, m = 0, s = 0] = parts
  const total = (((d * 24 + h) * 60 + m) * 60 + s) * 1_000
  return total > 0 ? total : undefined
}

/** The issuer of a message that may not be valid; only to look up the identity provider. */
export function peekIssuer(message: XmlElement): string | undefined {
  const issuer = findChild(message, 'assertion', 'Issuer')
  return issuer && readText(issuer)
}
