import { decodeEntities } from '@portcullis/service-kit/text/html-entities'
import { indexOr, searchOr } from '../../template/scan.ts'

/** The content of these elements is not displayed. */
const hidden = new Set(['head', 'style', 'script', 'title'])

/** The line breaks that a tag produces in plain text. */
const breaks = new Map<string, string>([
  ...['br', 'hr', '/tr', '/li', '/dt', '/dd'].map((tag) => [tag, '\n'] as const),
  ...['/p', '/div', '/table', '/ul', '/ol', '/blockquote', '/section', '/header', '/footer'].map(
    (tag) => [tag, '\n\n'] as const,
  ),
  ...['/h1', '/h2', '/h3', '/h4', '/h5', '/h6'].map((tag) => [tag, '\n\n'] as const),
  ['/td', ' '],
  ['/th', ' '],
  ['li', '\n- '],
])

/**
 * Converts a page to the plain-text part of a message. It makes a single pass over the page, even
 * if the HTML is malformed.
 */
export function htmlToText(html: string): string {
  let text = ''
  let link: { readonly target: string; label: string } | undefined
  const add = (piece: string): void => {
    if (link === undefined) text += piece
    else link.label += piece
  }
  const endLink = (): void => {
    const ended = link
    link = undefined
    if (ended !== undefined) add(toLink(ended.target, ended.label))
  }
  let at = 0
  while (at < html.length) {
    const open = indexOr(html, '<', at)
    add(decodeEntities(html.slice(at, open).replace(/\s+/g, ' ')))
    if (open === html.length) break
    const [start = ''] = /^<(?:!--|!|\?|\/?[a-z][a-z0-9]*)/i.exec(html.slice(open, open + 20)) ?? []
    if (start === '') {
      // The bracket does not start a tag.
      add('<')
      at = open + 1
      continue
    }
    const name = start.slice(1).toLowerCase()
    const close = indexOr(html, name === '!--' ? '-->' : '>', open)
    at = name === '!--' ? close + 3 : close + 1
    if (hidden.has(name)) {
      at = searchOr(html, new RegExp(`</${name}[^a-z0-9]`, 'gi'), at)
    } else if (name === 'a') {
      endLink()
      link = { target: toTarget(html.slice(open, close)), label: '' }
    } else if (name === '/a') {
      endLink()
    } else {
      add(breaks.get(name) ?? '')
    }
  }
  endLink()
  return text
    .replace(/[ \t\u00a0]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

function toTarget(tag: string): string {
  const [, double, single, bare] = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/i.exec(tag) ?? []
  return decodeEntities(double ?? single ?? bare ?? '')
}

/** Puts the URL on a separate line, which mail programs recognise as a link. */
function toLink(target: string, label: string): string {
  const words = label.trim()
  if (target === '' || target.startsWith('#')) return label
  return words === '' || words === target ? `\n${target}\n` : `${words}:\n${target}\n`
}
