export interface XmlElement {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: readonly (XmlElement | string)[]
}

const token =
  /<\/([A-Za-z][\w:-]*)\s*>|<([A-Za-z][\w:-]*)((?:\s+[A-Za-z][\w:-]*="[^"<]*")*)\s*(\/?)>|[^<]+/gy
const strayAmpersand = /&(?!#\d+;|#x[\da-f]+;|amp;|lt;|gt;|quot;|apos;)/i
// oxlint-disable-next-line no-control-regex -- XML allows none of them
const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/

/** Parses XML without declarations, comments or sections. Throws if it is not well-formed. */
export function parseXml(text: string): XmlElement {
  if (forbidden.test(text)) throw new Error('a character that XML does not allow')
  if (strayAmpersand.test(text)) throw new Error('an ampersand that is not escaped')
  const root = { name: '', attributes: {}, children: [] as (XmlElement | string)[] }
  const open = [root]
  token.lastIndex = 0
  while (token.lastIndex < text.length) {
    const at = token.lastIndex
    const match = token.exec(text)
    if (match === null) throw new Error(`invalid XML at ${at}: ${text.slice(at, at + 80)}`)
    const [whole, closed, opened, attributes = '', isEmpty] = match
    const parent = open.at(-1)
    if (parent === undefined) throw new Error('text after the end')
    if (closed !== undefined) {
      if (open.pop()?.name !== closed) throw new Error(`</${closed}> closes another element`)
    } else if (opened !== undefined) {
      const element = { name: opened, attributes: toAttributes(attributes), children: [] }
      parent.children.push(element)
      if (isEmpty === '') open.push(element)
    } else {
      parent.children.push(whole)
    }
  }
  const [element, ...others] = root.children.filter((child) => typeof child !== 'string')
  if (open.length !== 1 || element === undefined || others.length > 0) {
    throw new Error('there must be exactly one root element')
  }
  return element
}

function toAttributes(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/([\w:-]+)="([^"]*)"/g)]
  const attributes = Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, value]))
  if (Object.keys(attributes).length !== pairs.length)
    throw new Error(`duplicate attribute:${text}`)
  return attributes
}

/** The element and its descendants that have this name. */
export function findAll(element: XmlElement, name: string): XmlElement[] {
  const inner = element.children.flatMap((child) =>
    typeof child === 'string' ? [] : findAll(child, name),
  )
  return element.name === name ? [element, ...inner] : inner
}

export function textOf(element: XmlElement): string {
  return element.children
    .map((child) => (typeof child === 'string' ? child : textOf(child)))
    .join('')
    .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
}
