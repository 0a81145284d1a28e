import { decodeEntities } from '@portcullis/service-kit/text/html-entities'
import type { MessageLink } from './mailbox.ts'

/** Bounds the work for messages with very many links. */
const maxLinks = 50

interface RankedLink extends MessageLink {
  readonly rank: number
}

/** Finds the links of a message, the main one first: the button of the mail, or the link with a token. */
export function findLinks(html: string | undefined, text: string): readonly MessageLink[] {
  const inHtml = html === undefined ? [] : findInHtml(html)
  const found = inHtml.length > 0 ? inHtml : findInText(text)
  // The sort is stable, so links of equal rank keep their order.
  const ranked = found.toSorted((a, b) => b.rank - a.rank)
  const byUrl = new Map<string, MessageLink>()
  for (const { url, label } of ranked) {
    if (!byUrl.has(url)) byUrl.set(url, { url, label })
    if (byUrl.size === maxLinks) break
  }
  return [...byUrl.values()]
}

function findInHtml(html: string): RankedLink[] {
  const links: RankedLink[] = []
  let open: { readonly attributes: string; label: string } | undefined
  const end = (): void => {
    if (open === undefined) return
    const url = toUrl(decodeEntities(readAttribute(open.attributes, 'href')))
    if (url !== undefined) {
      const label = decodeEntities(open.label).replace(/\s+/g, ' ').trim()
      const isSame = label === url
      links.push({ url, label: isSame ? '' : label, rank: toRank(url, isButton(open.attributes)) })
    }
    open = undefined
  }
  for (const token of readHtml(html)) {
    if (token.kind === 'text') {
      if (open) open.label += token.text
    } else if (token.name === 'a') {
      end()
      open = { attributes: token.attributes, label: '' }
    } else if (token.name === '/a') {
      end()
    }
  }
  end()
  return links
}

function findInText(text: string): RankedLink[] {
  return text.split('\n').flatMap((line) =>
    // URLs longer than browsers accept are ignored.
    [...line.matchAll(/https?:\/\/[^\s<>"]{1,4096}/gi)].flatMap(([written]) => {
      const url = toUrl(written.replace(/[.,;:!?)\]}']{1,8}$/, ''))
      // A URL on its own line is most likely the main link; within a sentence it may be incidental.
      const isAlone = line.trim() === written
      return url === undefined ? [] : [{ url, label: '', rank: toRank(url, isAlone) }]
    }),
  )
}

function toRank(url: string, isProminent: boolean): number {
  return (isProminent ? 2 : 0) + (/[?&#](?:token|token_hash|code)=/.test(url) ? 1 : 0)
}

/** Buttons in mails are links that are styled as buttons. */
function isButton(attributes: string): boolean {
  const style = readAttribute(attributes, 'style')
  return (
    /background|inline-block/i.test(style) ||
    /button|btn/i.test(readAttribute(attributes, 'class')) ||
    /button/i.test(readAttribute(attributes, 'role'))
  )
}

function readAttribute(attributes: string, name: string): string {
  const written = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s>]+))`, 'i')
  const [, double, single, bare] = written.exec(attributes) ?? []
  return double ?? single ?? bare ?? ''
}

/** Accepts only http and https, so that following a link cannot run a script or another program. */
function toUrl(written: string): string | undefined {
  const url = URL.parse(written.trim())
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url.href : undefined
}

/** Text between tags, undecoded; or a tag with its lower-case name, `/a` for the end of a link. */
type HtmlToken =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'tag'; readonly name: string; readonly attributes: string }

/** The content of these elements is not displayed. */
const hidden = new Set(['script', 'style', 'title', 'template'])

/** Tokenizes HTML in one pass; tolerates invalid HTML. */
function* readHtml(html: string): Generator<HtmlToken> {
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
      // A bracket that does not start a tag.
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

/** Converts HTML to text, with one line per block element. */
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

/** Six to ten digits alone on a line; or, in a sentence, shortly after a word such as `code`. */
const alone = /^[ \t]*(\d{6,10})[ \t]*$/m
const named = /\b(?:code|otp|pin|passcode|password)\b[^\d\n]{0,40}\b(\d{6,10})\b(?![-./@]?\w)/i

/** Finds the one-time code in a message. */
export function findCode(text: string): string | undefined {
  const words = text.replace(/https?:\/\/\S+/gi, ' ')
  return (alone.exec(words) ?? named.exec(words))?.[1]
}
