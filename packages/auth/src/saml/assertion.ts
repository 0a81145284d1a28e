import type { XmlElement } from './parse-xml.ts'
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

/** What an identity provider says about a user. */
export interface Assertion {
  readonly id: string
  readonly nameId: NameId | undefined
  readonly attributes: readonly SamlAttribute[]
  /** When the session must end, in milliseconds since the epoch. */
  readonly sessionNotAfterMs: number | undefined
  /** When the assertion expires, after which it need not be remembered. */
  readonly notAfterMs: number
}

export interface NameId {
  readonly value: string
  readonly format: string
}

export interface SamlAttribute {
  readonly name: string
  readonly friendlyName: string
  readonly values: readonly string[]
}

export interface AssertionRules {
  readonly issuer: string
  readonly audience: string
  readonly recipient: string
  /** The ID of our request; undefined if the identity provider started the sign-in. */
  readonly requestId: string | undefined
  readonly nowMs: number
}

/** How far the clocks of identity providers may differ from ours. */
export const clockSkewMs = 60_000

/** Some identity providers write such a time for "never", and PostgreSQL reads no later year. */
const latestMs = Date.UTC(9999, 0)

const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer'

/**
 * Checks an assertion whose signature is valid, by SAML profiles, section 4.1.4.3.
 * @throws {SamlError}
 */
export function readAssertion(assertion: XmlElement, rules: AssertionRules): Assertion {
  if (assertion.attributes.get('Version') !== '2.0') {
    throw new SamlError('the assertion is not of SAML 2.0')
  }
  const issuer = readText(requireChild(assertion, 'assertion', 'Issuer'))
  if (issuer !== rules.issuer) throw new SamlError('the assertion has another issuer')
  const subject = requireChild(assertion, 'assertion', 'Subject')
  checkConfirmation(subject, rules)
  checkConditions(assertion, rules)
  return {
    id: requireAttribute(assertion, 'ID'),
    nameId: readNameId(subject),
    attributes: readAttributes(assertion),
    sessionNotAfterMs: readSessionEnd(assertion, rules.nowMs),
    notAfterMs: findExpiry(assertion, subject),
  }
}

/**
 * The time from which no server accepts the assertion, even if its clock and that of the identity
 * provider differ. Each confirmation counts, because a later one may be valid for longer than the
 * one that is used now.
 */
function findExpiry(assertion: XmlElement, subject: XmlElement): number {
  const expiries = findBearers(subject)
    .flatMap((confirmation) => findChildren(confirmation, 'assertion', 'SubjectConfirmationData'))
    .concat(findChildren(assertion, 'assertion', 'Conditions'))
    .map((element) => readTime(element, 'NotOnOrAfter') ?? 0)
  return Math.min(Math.max(...expiries) + 2 * clockSkewMs, latestMs)
}

function findBearers(subject: XmlElement): readonly XmlElement[] {
  return findChildren(subject, 'assertion', 'SubjectConfirmation').filter(
    ({ attributes }) => attributes.get('Method') === bearer,
  )
}

/** One bearer confirmation must be valid. */
function checkConfirmation(subject: XmlElement, rules: AssertionRules): void {
  const confirmations = findBearers(subject)
  if (confirmations.length === 0) throw new SamlError('the assertion has no bearer confirmation')
  let fault = ''
  for (const confirmation of confirmations) {
    const data = findChild(confirmation, 'assertion', 'SubjectConfirmationData')
    const expiryMs = data && readTime(data, 'NotOnOrAfter')
    if (data === undefined || expiryMs === undefined) {
      fault = 'the confirmation of the assertion does not expire'
      continue
    }
    fault = findConfirmationFault(data, expiryMs, rules) ?? ''
    if (fault === '') return
  }
  throw new SamlError(fault)
}

function findConfirmationFault(
  data: XmlElement,
  expiryMs: number,
  { recipient, requestId, nowMs }: AssertionRules,
): string | undefined {
  if (data.attributes.get('Recipient') !== recipient) return 'the assertion has another recipient'
  if (data.attributes.get('InResponseTo') !== requestId) {
    return requestId === undefined
      ? 'the assertion answers a request that is not known'
      : 'the assertion answers another request'
  }
  if (nowMs >= expiryMs + clockSkewMs) return 'the assertion has expired'
  const startMs = readTime(data, 'NotBefore')
  if (startMs !== undefined && nowMs < startMs - clockSkewMs)
    return 'the assertion is not valid yet'
  return undefined
}

/** Conditions that do not restrict who may use the assertion now. */
const harmlessConditions = ['AudienceRestriction', 'OneTimeUse', 'ProxyRestriction']

function checkConditions(assertion: XmlElement, { audience, nowMs }: AssertionRules): void {
  const conditions = requireChild(assertion, 'assertion', 'Conditions')
  for (const condition of conditions.children) {
    if (harmlessConditions.some((name) => isElement(condition, 'assertion', name))) continue
    throw new SamlError(`the assertion has the condition ${condition.name}, which is not supported`)
  }
  const restrictions = findChildren(conditions, 'assertion', 'AudienceRestriction')
  const isForUs = restrictions.every((restriction) =>
    findChildren(restriction, 'assertion', 'Audience').some((each) => readText(each) === audience),
  )
  if (restrictions.length === 0 || !isForUs) {
    throw new SamlError('the assertion is for another audience')
  }
  const startMs = readTime(conditions, 'NotBefore')
  if (startMs !== undefined && nowMs < startMs - clockSkewMs) {
    throw new SamlError('the assertion is not valid yet')
  }
  const endMs = readTime(conditions, 'NotOnOrAfter')
  if (endMs !== undefined && nowMs >= endMs + clockSkewMs) {
    throw new SamlError('the assertion has expired')
  }
}

/** The earliest end, if there are several statements. */
function readSessionEnd(assertion: XmlElement, nowMs: number): number | undefined {
  const statements = findChildren(assertion, 'assertion', 'AuthnStatement')
  if (statements.length === 0) throw new SamlError('the assertion has no AuthnStatement')
  const ends = statements
    .map((statement) => readTime(statement, 'SessionNotOnOrAfter'))
    .filter((end) => end !== undefined)
  if (ends.length === 0) return undefined
  const end = Math.min(...ends)
  if (end <= nowMs) throw new SamlError('the session at the identity provider has ended')
  return end
}

function readNameId(subject: XmlElement): NameId | undefined {
  const element = findChild(subject, 'assertion', 'NameID')
  const value = element && readText(element)
  if (element === undefined || value === undefined || value === '') return undefined
  if (element.children.length > 0) throw new SamlError('NameID contains elements')
  return { value, format: element.attributes.get('Format') ?? '' }
}

function readAttributes(assertion: XmlElement): readonly SamlAttribute[] {
  return findChildren(assertion, 'assertion', 'AttributeStatement')
    .flatMap((statement) => findChildren(statement, 'assertion', 'Attribute'))
    .map((attribute) => ({
      name: attribute.attributes.get('Name') ?? '',
      friendlyName: attribute.attributes.get('FriendlyName') ?? '',
      values: findChildren(attribute, 'assertion', 'AttributeValue').map(readValue),
    }))
}

/** Some providers put a NameID into the value. */
function readValue(value: XmlElement): string {
  const [inner] = findChildren(value, 'assertion', 'NameID')
  return readText(inner ?? value)
}
