import type { KeyObject } from 'node:crypto'
import { type Assertion, type AssertionRules, readAssertion } from './assertion.ts'
import { cannotDecrypt, decryptAssertion } from './encryption.ts'
import { messageLimits, parseXml, type XmlElement } from './parse-xml.ts'
import {
  countElements,
  findChild,
  isElement,
  readText,
  requireAttribute,
  requireChild,
} from './read-xml.ts'
import { SamlError } from './saml-error.ts'
import { findSignature, verifySignature } from './signature.ts'

export interface ResponseRules extends Omit<AssertionRules, 'issuer'> {
  readonly entityId: string
  /** The keys that the identity provider may sign with. */
  readonly signingKeys: readonly KeyObject[]
  /** Our keys for encrypted assertions; empty if they are not allowed. */
  readonly decryptionKeys: readonly KeyObject[]
}

/** A response that has been decoded but not checked. */
export interface ReceivedResponse {
  readonly text: string
  readonly root: XmlElement
}

/** Decodes the form field `SAMLResponse`. @throws {SamlError} */
export function decodeResponse(field: string): ReceivedResponse {
  // Four characters of Base64 hold three bytes.
  if (field.length > (messageLimits.mostCharacters * 4) / 3) {
    throw new SamlError('the response is too long')
  }
  const base64 = field.replaceAll(/\s/g, '')
  if (!/^[A-Za-z\d+/]+={0,2}$/.test(base64)) throw new SamlError('the response is not Base64')
  const text = decodeText(Buffer.from(base64, 'base64'))
  const root = parseXml(text)
  if (!isElement(root, 'protocol', 'Response')) throw new SamlError('the message is not a Response')
  return { text, root }
}

function decodeText(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new SamlError('the response is not encoded in UTF-8')
  }
}

/**
 * Checks a response and returns its assertion. Everything in the result is covered by a signature
 * of the identity provider.
 * @throws {SamlError}
 */
export function readResponse({ text, root }: ReceivedResponse, rules: ResponseRules): Assertion {
  checkResponse(root, rules)
  const assertions = ['Assertion', 'EncryptedAssertion']
  if (countElements(root, assertions) !== 1) {
    throw new SamlError('the response must have exactly one assertion')
  }
  const isSigned = findSignature(root) !== undefined
  if (isSigned && !root.attributes.has('Destination')) {
    throw new SamlError('the signed response has no destination')
  }
  const response = isSigned ? verifySignature(text, [root], rules.signingKeys) : root
  // The signed bytes are read from here on, so what is outside of them is checked once more.
  if (isSigned) checkResponse(response, rules)
  const encrypted = findChild(response, 'assertion', 'EncryptedAssertion')
  const assertion =
    encrypted === undefined
      ? findSignedAssertion(text, root, response, isSigned, rules)
      : openAssertion(encrypted, isSigned, rules)
  return readAssertion(assertion, { ...rules, issuer: rules.entityId })
}

function checkResponse(response: XmlElement, rules: ResponseRules): void {
  const { attributes } = response
  if (attributes.get('Version') !== '2.0') throw new SamlError('the response is not of SAML 2.0')
  const destination = attributes.get('Destination') ?? rules.recipient
  if (destination !== rules.recipient) throw new SamlError('the response has another destination')
  const issuer = findChild(response, 'assertion', 'Issuer')
  if (issuer !== undefined && readText(issuer) !== rules.entityId) {
    throw new SamlError('the response has another issuer')
  }
  const answered = attributes.get('InResponseTo')
  if (answered !== rules.requestId) {
    throw new SamlError(
      rules.requestId === undefined
        ? 'the response answers a request that is not known'
        : 'the response answers another request',
    )
  }
  checkStatus(response)
}

const success = 'urn:oasis:names:tc:SAML:2.0:status:Success'

function checkStatus(response: XmlElement): void {
  const status = requireChild(response, 'protocol', 'Status')
  const code = requireChild(status, 'protocol', 'StatusCode')
  const value = requireAttribute(code, 'Value')
  if (value === success) return
  const detail = findChild(code, 'protocol', 'StatusCode')?.attributes.get('Value') ?? value
  const name = detail.split(':').at(-1) ?? ''
  const shown = /^\w{1,64}$/.test(name) ? name : 'an unknown status'
  throw new SamlError(`the identity provider refused the sign-in with ${shown}`)
}

/** If both the response and the assertion are signed, both signatures must be valid. */
function findSignedAssertion(
  text: string,
  root: XmlElement,
  response: XmlElement,
  isSigned: boolean,
  { signingKeys }: ResponseRules,
): XmlElement {
  const outer = requireChild(root, 'assertion', 'Assertion')
  if (findSignature(outer) !== undefined) return verifySignature(text, [root, outer], signingKeys)
  if (isSigned) return requireChild(response, 'assertion', 'Assertion')
  throw new SamlError('neither the response nor the assertion is signed')
}

function openAssertion(
  encrypted: XmlElement,
  isSigned: boolean,
  { decryptionKeys, signingKeys }: ResponseRules,
): XmlElement {
  if (decryptionKeys.length === 0) throw new SamlError('encrypted assertions are not allowed')
  const text = decryptAssertion(encrypted, { keys: decryptionKeys, isSigned })
  const assertion = parseDecrypted(text)
  if (findSignature(assertion) !== undefined) {
    return verifySignature(text, [assertion], signingKeys)
  }
  if (isSigned) return assertion
  throw new SamlError('neither the response nor the assertion is signed')
}

/**
 * Reports the same error as for a ciphertext that cannot be decrypted. Otherwise, the operator of one
 * identity provider could sign changed ciphertexts of another one, and learn from the errors what
 * they contain.
 */
function parseDecrypted(text: string): XmlElement {
  const assertion = tryToParse(text)
  const isOne =
    assertion !== undefined &&
    isElement(assertion, 'assertion', 'Assertion') &&
    countElements(assertion, ['Assertion', 'EncryptedAssertion']) === 1
  if (isOne) return assertion
  throw cannotDecrypt()
}

function tryToParse(text: string): XmlElement | undefined {
  try {
    return parseXml(text)
  } catch (error) {
    if (error instanceof SamlError) return undefined
    throw error
  }
}
