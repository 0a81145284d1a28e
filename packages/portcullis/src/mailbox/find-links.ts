import { decodeEntities } from '@portcullis/service-kit/html-entities'
import { readHtml } from './html-tokens.ts'
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
