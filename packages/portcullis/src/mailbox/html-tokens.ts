import { decodeEntities } from '@portcullis/service-kit/html-entities'

/** Text between tags, as it is written; or a tag, by its name in lower case, `/a` for the end of a link. */
export type HtmlToken =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'tag'; readonly name: string; readonly attributes: string }

/** What is between these and their end is not for reading. */
const hidden = new Set(['script', 'style', 'title', 'template'])

/** Goes through a page once, however broken it is. */
export function* readHtml(html: string): Generator<HtmlToken> {
  let at = 0
  while (at < html.length) {
    const open = html.indexOf('<', at)
    if (open < 0) {
      yield { kind: 'text', text: html.slice(at) }
      return
    }
    if (open > at) yield { kind: 'text', text: html.slice(at, open) }
    if (html.startsWith('<!--', open)) {
      at = endOf(html, '-->', open)
      continue
    }
    const name = /^\/?[a-z][a-z0-9]*/i.exec(html.slice(open + 1, open + 32))?.[0].toLowerCase()
    if (name === undefined && !/[!?/]/.test(html.charAt(open + 1))) {
      // A bracket that begins nothing.
      yield { kind: 'text', text: '<' }
      at = open + 1
      continue
    }
    at = endOf(html, '>', open)
    if (name === undefined) continue
    if (hidden.has(name)) at = findEnd(html, name, at)
    else yield { kind: 'tag', name, attributes: html.slice(open + 1 + name.length, at - 1) }
  }
}

function endOf(html: string, mark: string, from: number): number {
  const found = html.indexOf(mark, from)
  return found < 0 ? html.length : found + mark.length
}

function findEnd(html: string, name: string, from: number): number {
  const end = new RegExp(`</${name}[\\s/>]`, 'gi')
  end.lastIndex = from
  return end.test(html) ? end.lastIndex : html.length
}

const blocks =
  /^\/?(?:address|article|blockquote|br|dd|div|dl|dt|h[1-6]|hr|li|ol|p|pre|section|table|td|th|tr|ul)$/

/** What a page says, a line for each of its blocks. */
export function toPlainText(html: string): string {
  let text = ''
  for (const token of readHtml(html)) {
    if (token.kind === 'text') text += decodeEntities(token.text).replace(/\s+/g, ' ')
    else if (blocks.test(token.name)) text += '\n'
  }
  const lines = text.split('\n').map((line) => line.trim())
  return lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}
