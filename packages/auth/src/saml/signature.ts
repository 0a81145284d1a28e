import { createHash, type KeyObject } from 'node:crypto'
import { createRequire } from 'node:module'
import { parseXml, type XmlElement } from './parse-xml.ts'
import {
  findChild,
  findChildren,
  isElement,
  namespaces,
  readText,
  requireAttribute,
  requireChild,
} from './read-xml.ts'
import { SamlError } from './saml-error.ts'
import { isSignedByAny, signatureMethods } from './signature-methods.ts'

const require = createRequire(import.meta.url)
/** Loaded with the first signature, because most servers verify none and loading them takes 70 ms. */
const loadXmldom = () => require('@xmldom/xmldom') as typeof import('@xmldom/xmldom')
const loadXmlCrypto = () => require('xml-crypto') as typeof import('xml-crypto')

const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#'
const enveloped = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature'

const digestMethods: Readonly<Record<string, string>> = {
  'http://www.w3.org/2001/04/xmlenc#sha256': 'sha256',
  'http://www.w3.org/2001/04/xmldsig-more#sha384': 'sha384',
  'http://www.w3.org/2001/04/xmlenc#sha512': 'sha512',
}

/** Undefined if the element itself has no signature. @throws {SamlError} if it has several. */
export function findSignature(element: XmlElement): XmlElement | undefined {
  return findChild(element, 'signature', 'Signature')
}

/**
 * Verifies the signature of an element and returns what it covers: the canonical bytes that were
 * hashed, parsed again. Callers read only these, so an element that is merely beside or around the
 * signed one is never read, wherever an attacker puts it. What the signature says about itself is
 * read in the same way, from the canonical bytes that were signed.
 * @param text the document.
 * @param path the names of the elements from the root of the document to the signed one.
 * @throws {SamlError}
 */
export function verifySignature(
  text: string,
  path: readonly XmlElement[],
  keys: readonly KeyObject[],
): XmlElement {
  const element = path.at(-1)
  const signature = element && findSignature(element)
  if (element === undefined || signature === undefined) {
    throw new SamlError('the signed element has no signature')
  }
  checkParts(signature)
  const nodes = findNodes(text, path)
  const info = canonicalize(nodes.signedInfo)
  const reference = readReference(parseXml(info), requireAttribute(element, 'ID'))
  // First, because canonicalising the element of an attacker can be expensive.
  const value = readText(requireChild(signature, 'signature', 'SignatureValue'))
  if (!isSignedByAny(keys, reference.signatureMethod, info, value)) throw unknownKey()
  // The transform enveloped-signature.
  nodes.element.removeChild(nodes.signature)
  const canonical = canonicalize(nodes.element, reference.prefixes)
  if (!isDigest(canonical, reference)) throw unknownKey()
  const signed = parseXml(canonical)
  const isSame =
    signed.name === element.name &&
    signed.namespace === element.namespace &&
    signed.attributes.get('ID') === element.attributes.get('ID')
  if (!isSame) throw new SamlError('the signature covers another element')
  return signed
}

/** Also thrown for an element that was changed, which newer metadata does not help. */
function unknownKey(): SamlError {
  const message = 'the signature does not match any key of the identity provider'
  return new SamlError(message, { isKeyUnknown: true })
}

/** The parts that are not signed: nothing of them is read but the value. */
function checkParts({ children }: XmlElement): void {
  const [first, ...others] = children
  const areKnown = others.every(({ name }) => name === 'SignatureValue' || name === 'KeyInfo')
  if (first !== undefined && isElement(first, 'signature', 'SignedInfo') && areKnown) return
  throw new SamlError('the signature has an unexpected form')
}

interface SignedReference {
  readonly signatureMethod: string
  readonly digestMethod: string
  /** In Base64. */
  readonly digest: string
  readonly prefixes: readonly string[]
}

/**
 * Allows one form only: one reference, to the element that has the signature, with the transforms
 * that SAML requires (SAML core, section 5.4).
 */
function readReference(info: XmlElement, id: string): SignedReference {
  readAlgorithm(requireChild(info, 'signature', 'CanonicalizationMethod'), [exclusive])
  const method = requireChild(info, 'signature', 'SignatureMethod')
  const signatureMethod = readAlgorithm(method, signatureMethods)
  const reference = requireChild(info, 'signature', 'Reference')
  if (info.children.length !== 3) throw new SamlError('the signature has an unexpected form')
  if (reference.attributes.get('URI') !== `#${id}`) {
    throw new SamlError('the signature refers to another element')
  }
  const digest = requireChild(reference, 'signature', 'DigestMethod')
  const digestMethod = readAlgorithm(digest, Object.keys(digestMethods))
  const transforms = findChildren(
    requireChild(reference, 'signature', 'Transforms'),
    'signature',
    'Transform',
  )
  const names = transforms.map((transform) => transform.attributes.get('Algorithm'))
  if (names.length !== 2 || names[0] !== enveloped || names[1] !== exclusive) {
    throw new SamlError('the signature has other transforms than enveloped-signature and exc-c14n')
  }
  return {
    signatureMethod,
    digestMethod,
    digest: readText(requireChild(reference, 'signature', 'DigestValue')),
    prefixes: transforms.flatMap(readPrefixes),
  }
}

function readAlgorithm(element: XmlElement, allowed: readonly string[]): string {
  const algorithm = requireAttribute(element, 'Algorithm')
  if (allowed.includes(algorithm)) return algorithm
  throw new SamlError(`the signature uses ${algorithm}, which is not allowed`)
}

const mostPrefixes = 50

/** The namespaces that are canonicalised although no name uses them, such as that of `xs:string`. */
function readPrefixes(transform: XmlElement): readonly string[] {
  const prefixes = transform.children
    .filter(({ name, namespace }) => name === 'InclusiveNamespaces' && namespace === exclusive)
    .flatMap(({ attributes }) => (attributes.get('PrefixList') ?? '').split(/\s+/))
    .filter((prefix) => prefix !== '')
  if (prefixes.length <= mostPrefixes) return prefixes
  throw new SamlError(`the signature has more than ${mostPrefixes} prefixes`)
}

function isDigest(canonical: string, { digestMethod, digest }: SignedReference): boolean {
  const hash = createHash(digestMethods[digestMethod] ?? '')
    .update(canonical, 'utf8')
    .digest()
  return hash.equals(Buffer.from(digest, 'base64'))
}

function canonicalize(node: Element, prefixes: readonly string[] = []): string {
  const { ExclusiveCanonicalization } = loadXmlCrypto()
  return new ExclusiveCanonicalization().process(node, {
    inclusiveNamespacesPrefixList: [...prefixes],
    ancestorNamespaces: prefixes.length === 0 ? [] : findNamespaces(node),
  })
}

/** The prefixes that are declared around the element and not by itself. */
function findNamespaces(node: Element) {
  const known = new Set(readDeclarations(node).map(({ prefix }) => prefix))
  const found: { prefix: string; namespaceURI: string }[] = []
  for (let next = node.parentNode; next !== null; next = next.parentNode) {
    for (const declaration of readDeclarations(next as Element)) {
      if (!known.has(declaration.prefix)) found.push(declaration)
      known.add(declaration.prefix)
    }
  }
  return found
}

/** Empty for a document, which has no attributes. */
function readDeclarations({ attributes }: Element) {
  return Array.from(attributes ?? [])
    .filter(({ name }) => name.startsWith('xmlns:'))
    .map(({ localName, value }) => ({ prefix: localName, namespaceURI: value }))
}

/** Follows the path of names, which is unique because `path` comes from `findChild`. */
function findNodes(text: string, path: readonly XmlElement[]) {
  const fail = (message: string) => {
    throw new SamlError(`the document is not well-formed XML: ${message}`)
  }
  const { DOMParser } = loadXmldom()
  const parser = new DOMParser({
    errorHandler: { warning: () => {}, error: fail, fatalError: fail },
  })
  const root: Element = parser.parseFromString(text, 'text/xml').documentElement
  const element = path.slice(1).reduce(findOnly, root)
  const signature = findOnly(element, { name: 'Signature', namespace: namespaces.signature })
  const signedInfo = findOnly(signature, { name: 'SignedInfo', namespace: namespaces.signature })
  return { element, signature, signedInfo }
}

function findOnly(node: Element, { name, namespace }: Pick<XmlElement, 'name' | 'namespace'>) {
  const [found, ...more] = Array.from(node.childNodes).filter(
    (child): child is Element =>
      child.nodeType === child.ELEMENT_NODE &&
      (child as Element).localName === name &&
      (child as Element).namespaceURI === namespace,
  )
  if (found !== undefined && more.length === 0) return found
  throw new SamlError('the signature is ambiguous')
}
