import type { XmlElement } from './parse-xml.ts'
import { SamlError } from './saml-error.ts'

export const namespaces = {
  protocol: 'urn:oasis:names:tc:SAML:2.0:protocol',
  assertion: 'urn:oasis:names:tc:SAML:2.0:assertion',
  metadata: 'urn:oasis:names:tc:SAML:2.0:metadata',
  signature: 'http://www.w3.org/2000/09/xmldsig#',
  encryption: 'http://www.w3.org/2001/04/xmlenc#',
} as const

type Namespace = keyof typeof namespaces

export function isElement(element: XmlElement, namespace: Namespace, name: string): boolean {
  return element.name === name && element.namespace === namespaces[namespace]
}

export function findChildren(
  { children }: XmlElement,
  namespace: Namespace,
  name: string,
): readonly XmlElement[] {
  return children.filter((child) => isElement(child, namespace, name))
}

/** Undefined if there is none. @throws {SamlError} if there are several. */
export function findChild(
  element: XmlElement,
  namespace: Namespace,
  name: string,
): XmlElement | undefined {
  const [found, ...more] = findChildren(element, namespace, name)
  if (more.length === 0) return found
  throw new SamlError(`${element.name} has more than one ${name}`)
}

/** @throws {SamlError} unless there is exactly one. */
export function requireChild(element: XmlElement, namespace: Namespace, name: string): XmlElement {
  const found = findChild(element, namespace, name)
  if (found !== undefined) return found
  throw new SamlError(`${element.name} has no ${name}`)
}

/** @throws {SamlError} if the element has no such attribute. */
export function requireAttribute(element: XmlElement, name: string): string {
  const value = element.attributes.get(name)
  if (value !== undefined && value !== '') return value
  throw new SamlError(`${element.name} has no ${name}`)
}

const whitespace = '\t\n\r '

/**
 * The text without whitespace around it. Only that of XML: if other invisible characters were
 * removed, two names that an identity provider distinguishes could become the same.
 */
export function readText({ text }: XmlElement): string {
  let [start, end] = [0, text.length]
  while (start < end && whitespace.includes(text.charAt(start))) start += 1
  while (end > start && whitespace.includes(text.charAt(end - 1))) end -= 1
  return text.slice(start, end)
}

/** Counts elements with the name anywhere below `element`, including itself, without recursion. */
export function countElements(element: XmlElement, names: readonly string[]): number {
  const waiting = [element]
  let count = 0
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (names.includes(next.name)) count += 1
    waiting.push(...next.children)
  }
  return count
}

const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/

/** SAML times are in UTC. Undefined if the attribute is absent. @throws {SamlError} */
export function readTime(element: XmlElement, name: string): number | undefined {
  const text = element.attributes.get(name)
  if (text === undefined) return undefined
  const timeMs = timePattern.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(timeMs)) return timeMs
  throw new SamlError(`${name} of ${element.name} is not a time in UTC`)
}

export function escapeXml(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&apos;',
  }
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
}
