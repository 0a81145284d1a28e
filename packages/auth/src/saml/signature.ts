import type { KeyObject } from 'node:crypto'
import { DOMParser } from '@xmldom/xmldom'
import { SignedXml } from 'xml-crypto'
import { parseXml, type XmlElement } from './parse-xml.ts'
import {
  findChild,
  findChildren,
  isElement,
  namespaces,
  requireAttribute,
  requireChild,
} from './read-xml.ts'
import { SamlError } from './saml-error.ts'

const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#'
const enveloped = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature'

/** Neither SHA-1 nor HMAC, with which a public key could be used as a shared secret. */
const signatureMethods = [
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
  'http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1',
]
const digestMethods = [
  'http://www.w3.org/2001/04/xmlenc#sha256',
  'http://www.w3.org/2001/04/xmlenc#sha512',
]

/** Undefined if the element itself has no signature. @throws {SamlError} if it has several. */
export function findSignature(element: XmlElement): XmlElement | undefined {
  return findChild(element, 'signature', 'Signature')
}

/**
 * Verifies the signature of an element and returns what it covers: the canonical bytes that were
 * hashed, parsed again. Callers read only these, so an element that is merely beside or around the
 * signed one is never read, wherever an attacker puts it.
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
  checkForm(signature, requireAttribute(element, 'ID'))
  const canonical = findCanonicalText(text, path, keys)
  if (canonical === undefined) {
    const message = 'the signature does not match any key of the identity provider'
    throw new SamlError(message, { isKeyUnknown: true })
  }
  const signed = parseXml(canonical)
  const isSame =
    signed.name === element.name &&
    signed.namespace === element.namespace &&
    signed.attributes.get('ID') === element.attributes.get('ID')
  if (!isSame) throw new SamlError('the signature covers another element')
  return signed
}

/**
 * Allows one form only: one reference, to the element that has the signature, with the transforms
 * that SAML requires (SAML core, section 5.4).
 */
function checkForm(signature: XmlElement, id: string): void {
  const [first, ...others] = signature.children
  const areKnown = others.every(({ name }) => name === 'SignatureValue' || name === 'KeyInfo')
  if (first === undefined || !isElement(first, 'signature', 'SignedInfo') || !areKnown) {
    throw new SamlError('the signature has an unexpected form')
  }
  const method = requireChild(first, 'signature', 'CanonicalizationMethod')
  checkAlgorithm(method, [exclusive])
  checkAlgorithm(requireChild(first, 'signature', 'SignatureMethod'), signatureMethods)
  const reference = requireChild(first, 'signature', 'Reference')
  if (first.children.length !== 3) throw new SamlError('the signature has an unexpected form')
  if (reference.attributes.get('URI') !== `#${id}`) {
    throw new SamlError('the signature refers to another element')
  }
  checkAlgorithm(requireChild(reference, 'signature', 'DigestMethod'), digestMethods)
  const transforms = findChildren(
    requireChild(reference, 'signature', 'Transforms'),
    'signature',
    'Transform',
  )
  const names = transforms.map((transform) => transform.attributes.get('Algorithm'))
  if (names.length !== 2 || names[0] !== enveloped || names[1] !== exclusive) {
    throw new SamlError('the signature has other transforms than enveloped-signature and exc-c14n')
  }
}

function checkAlgorithm(element: XmlElement, allowed: readonly string[]): void {
  const algorithm = requireAttribute(element, 'Algorithm')
  if (allowed.includes(algorithm)) return
  throw new SamlError(`the signature uses ${algorithm}, which is not allowed`)
}

/** Undefined if no key matches. */
function findCanonicalText(
  text: string,
  path: readonly XmlElement[],
  keys: readonly KeyObject[],
): string | undefined {
  for (const key of keys) {
    const signed = createSignedXml(key)
    // Each attempt parses the document again, because the library changes it.
    signed.loadSignature(findSignatureNode(text, path))
    if (!isValid(signed, text)) continue
    const [canonical, ...more] = signed.getSignedReferences()
    if (canonical !== undefined && more.length === 0) return canonical
  }
  return undefined
}

function createSignedXml(key: KeyObject): SignedXml {
  const publicCert = key.export({ type: 'spki', format: 'pem' })
  // Without the certificate in the message, which the sender chooses.
  const signed = new SignedXml({ publicCert, getCertFromKeyInfo: () => null })
  signed.SignatureAlgorithms = pick(signed.SignatureAlgorithms, signatureMethods)
  signed.HashAlgorithms = pick(signed.HashAlgorithms, digestMethods)
  signed.CanonicalizationAlgorithms = pick(signed.CanonicalizationAlgorithms, [
    exclusive,
    enveloped,
  ])
  return signed
}

function pick<Value>(all: Record<string, Value>, names: readonly string[]): Record<string, Value> {
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)))
}

/** The library throws if the signature value is wrong, and returns false if a digest is wrong. */
function isValid(signed: SignedXml, text: string): boolean {
  try {
    return signed.checkSignature(text)
  } catch {
    return false
  }
}

/** Follows the path of names, which is unique because `path` comes from `findChild`. */
function findSignatureNode(text: string, path: readonly XmlElement[]): Node {
  const fail = (message: string) => {
    throw new SamlError(`the document is not well-formed XML: ${message}`)
  }
  const parser = new DOMParser({
    errorHandler: { warning: () => {}, error: fail, fatalError: fail },
  })
  const steps = [...path.slice(1), { name: 'Signature', namespace: namespaces.signature }]
  let node: Element = parser.parseFromString(text, 'text/xml').documentElement
  for (const { name, namespace } of steps) {
    const found = [...Array.from(node.childNodes)].filter(
      (child): child is Element =>
        child.nodeType === child.ELEMENT_NODE &&
        (child as Element).localName === name &&
        (child as Element).namespaceURI === namespace,
    )
    const [next] = found
    if (next === undefined || found.length > 1) throw new SamlError('the signature is ambiguous')
    node = next
  }
  return node
}
