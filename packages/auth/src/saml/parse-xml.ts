import { createRequire } from 'node:module'
import { SamlError } from './saml-error.ts'

const require = createRequire(import.meta.url)
/** Loaded with the first document, because most servers have none. */
const loadSaxes = () => require('saxes') as typeof import('saxes')

/** An element with resolved namespaces. */
export interface XmlElement {
  readonly name: string
  readonly namespace: string
  /** Attributes without a namespace, by their name. */
  readonly attributes: ReadonlyMap<string, string>
  readonly children: readonly XmlElement[]
  /** The text between the tags, without that of child elements. */
  readonly text: string
}

interface OpenElement extends XmlElement {
  readonly attributes: Map<string, string>
  readonly children: OpenElement[]
  text: string
}

export interface XmlLimits {
  /** In characters. */
  readonly mostCharacters: number
  readonly mostElements: number
  readonly mostDepth: number
  /** Metadata files have comments; messages have no reason to. */
  readonly allowsComments: boolean
}

/** A response has about 60 elements, and hundreds if it lists the groups of the user. */
export const messageLimits: XmlLimits = {
  mostCharacters: 512 * 1_024,
  mostElements: 5_000,
  mostDepth: 32,
  allowsComments: false,
}

const mostAttributes = 32

/**
 * Parses a document. The parser keeps open elements in an array, so a deep document cannot overflow
 * the stack, and it stops at the first violation of a limit. Document type declarations, and with
 * them entities, are refused, as are processing instructions.
 * @throws {SamlError}
 */
export function parseXml(text: string, limits: XmlLimits = messageLimits): XmlElement {
  if (text.length > limits.mostCharacters) {
    throw new SamlError(`the document is longer than ${limits.mostCharacters} characters`)
  }
  const root: OpenElement = createElement('', '')
  const open: OpenElement[] = [root]
  const ids = new Set<string>()
  let elements = 0
  const { SaxesParser } = loadSaxes()
  const parser = new SaxesParser({ xmlns: true, position: false })
  parser.on('error', (error) => {
    throw new SamlError(`the document is not well-formed XML: ${error.message}`)
  })
  parser.on('xmldecl', ({ encoding }) => {
    if (encoding === undefined || /^utf-8$/i.test(encoding)) return
    throw new SamlError('the document is not encoded in UTF-8')
  })
  parser.on('doctype', () => {
    throw new SamlError('the document has a document type declaration')
  })
  parser.on('processinginstruction', () => {
    throw new SamlError('the document has a processing instruction')
  })
  parser.on('comment', () => {
    if (!limits.allowsComments) throw new SamlError('the document has a comment')
  })
  // Before the attributes are read, so that a long list of them is not collected first.
  parser.on('opentagstart', () => {
    elements += 1
    if (elements > limits.mostElements) {
      throw new SamlError(`the document has more than ${limits.mostElements} elements`)
    }
    if (open.length > limits.mostDepth) {
      throw new SamlError(`the document is nested more than ${limits.mostDepth} levels deep`)
    }
  })
  parser.on('opentag', ({ local, uri, attributes }) => {
    const element = createElement(local, uri)
    const all = Object.values(attributes)
    if (all.length > mostAttributes) {
      throw new SamlError(`an element has more than ${mostAttributes} attributes`)
    }
    for (const attribute of all) {
      if (attribute.uri === '') element.attributes.set(attribute.local, attribute.value)
      // The signature library looks up the signed element by any of these names.
      if (attribute.local.toLowerCase() === 'id') checkId(attribute.value, ids)
    }
    open.at(-1)?.children.push(element)
    open.push(element)
  })
  const addText = (part: string) => {
    const element = open.at(-1)
    if (element !== undefined) element.text += part
  }
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('closetag', () => void open.pop())
  parser.write(text).close()
  const [element] = root.children
  if (element === undefined) throw new SamlError('the document is empty')
  return element
}

function createElement(name: string, namespace: string): OpenElement {
  return { name, namespace, attributes: new Map(), children: [], text: '' }
}

function checkId(id: string, ids: Set<string>): void {
  if (ids.has(id)) throw new SamlError('the document has two elements with the same ID')
  ids.add(id)
}
