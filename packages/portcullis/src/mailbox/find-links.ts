import { decodeEntities } from '@portcullis/service-kit/html-entities'
import type { MessageLink } from './mailbox.ts'

/** Nobody follows more of them. */
const maxLinks = 50

interface RankedLink extends MessageLink {
  readonly rank: number
}

/** Where a message leads, the main one first: the button of the mail, or what carries a token. */
export function findLinks(html: string | undefined, text: string): readonly MessageLink[] {
  const inHtml = html === undefined ? [] : findInHtml(html)
  const found = inHtml.length > 0 ? inHtml : findInText(text)
  // Sorting keeps the order of those that are alike.
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
    // Longer ones than browsers take are not meant to be followed.
    [...line.matchAll(/https?:\/\/[^\s<>"]{1,4096}/gi)].flatMap(([written]) => {
      const url = toUrl(written.replace(/[.,;:!?)\]}']{1,8}$/, ''))
      // On a line of its own it is what the message is about; in a sentence it may be a name.
      const isAlone = line.trim() === written
      return url === undefined ? [] : [{ url, label: '', rank: toRank(url, isAlone) }]
    }),
  )
}

function toRank(url: string, isProminent: boolean): number {
  return (isProminent ? 2 : 0) + (/[?&#](?:token|token_hash|code)=/.test(url) ? 1 : 0)
}

/** Mails have no other buttons than links that look like one. */
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

/** Only those that a browser opens without doing anything else. */
function toUrl(written: string): string | undefined {
  const url = URL.parse(written.trim())
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url.href : undefined
}

/** Text between tags, as it is written; or a tag, by its name in lower case, `/a` for the end of a link. */
type HtmlToken =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'tag'; readonly name: string; readonly attributes: string }

/** What is between these and their end is not for reading. */
const hidden = new Set(['script', 'style', 'title', 'template'])

/** Goes through a page once, however broken it is. */
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

/** Six to ten digits that stand alone on a line; or, in a sentence, soon after what names them. */
const alone = /^[ \t]*(\d{6,10})[ \t]*$/m
const named = /\b(?:code|otp|pin|passcode|password)\b[^\d\n]{0,40}\b(\d{6,10})\b(?![-./@]?\w)/i

/** The code that a message asks to type in. */
export function findCode(text: string): string | undefined {
  const words = text.replace(/https?:\/\/\S+/gi, ' ')
  return (alone.exec(words) ?? named.exec(words))?.[1]
}
