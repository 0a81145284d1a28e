import {
  type AttributeWriter,
  createAttribute,
  createScriptReader,
  isPlainAttribute,
} from './attributes.ts'
import { escapeHtml, escapeUnquoted, toCss, toScript } from './escape.ts'
import type { Writer } from './evaluate.ts'
import { indexOr, searchOr } from './scan.ts'
import { toText } from './values.ts'

/** The context of the writer in a page. */
type Place =
  | 'text'
  | 'tag-open'
  | 'tag-name'
  | 'tag'
  | 'attribute-name'
  | 'after-name'
  | 'before-value'
  | 'double-quoted'
  | 'single-quoted'
  | 'unquoted'
  | 'comment'
  | 'declaration'
  /** Inside an element that contains only text. */
  | 'raw'

const rawElements = new Set(['script', 'style', 'textarea', 'title'])

export interface HtmlWriter extends Writer {
  readonly html: string
}

/**
 * Parses the page while it is written, so that each value can be escaped for its context. A value
 * never changes the context: characters that could are escaped or omitted.
 */
export function createHtmlWriter(): HtmlWriter {
  let html = ''
  let place: Place = 'text'
  let tagName = ''
  let attributeName = ''
  let attribute: AttributeWriter = createAttribute('')
  let script = createScriptReader()

  const openValue = (next: Place): void => {
    attribute = createAttribute(attributeName)
    place = next
  }
  const endTag = (): void => {
    place = rawElements.has(tagName) ? 'raw' : 'text'
    script = createScriptReader()
  }

  /** Each reads from `at` and returns where the next one continues. */
  type Read = (text: string, at: number) => number
  const readQuoted =
    (quote: string): Read =>
    (text, at) => {
      const end = indexOr(text, quote, at)
      attribute.text(text.slice(at, end))
      if (end < text.length) place = 'tag'
      return end + 1
    }
  const reads: Readonly<Record<Place, Read>> = {
    text(text, at) {
      const open = indexOr(text, '<', at)
      if (open < text.length) place = 'tag-open'
      return open + 1
    },
    'tag-open'(text, at) {
      const conditional = text.slice(at, at + 200).match(/^!--\[if[^\]]*\]>/i)
      if (conditional !== null) {
        // Outlook interprets the content of conditional comments, so it is treated as part of the
        // page.
        place = 'text'
        return at + conditional[0].length
      }
      if (text.startsWith('!--', at)) {
        const [abrupt] = text.slice(at, at + 5).match(/^!---?>/) ?? []
        place = abrupt === undefined ? 'comment' : 'text'
        return at + (abrupt ?? '!--').length
      }
      const character = text.charAt(at)
      if (/[!?]/.test(character)) place = 'declaration'
      else if (/[a-z/]/i.test(character)) {
        place = 'tag-name'
        // The slash of a closing tag is part of its name here, so that it is not a raw element.
        tagName = character === '/' ? '/' : ''
      } else place = 'text'
      return character === '/' ? at + 1 : at
    },
    'tag-name'(text, at) {
      const stop = searchOr(text, /[\s/>]/g, at)
      tagName += text.slice(at, stop).toLowerCase()
      if (stop < text.length) place = 'tag'
      return stop
    },
    tag(text, at) {
      const next = searchOr(text, /[^\s/]/g, at)
      if (next === text.length) return next
      if (text[next] === '>') {
        endTag()
        return next + 1
      }
      attributeName = ''
      place = 'attribute-name'
      return next
    },
    'attribute-name'(text, at) {
      // An equals sign at the very beginning is part of the name.
      const stop = searchOr(text, /[\s/>=]/g, attributeName === '' ? at + 1 : at)
      attributeName += text.slice(at, stop)
      if (stop === text.length) return stop
      place =
        text[stop] === '=' ? 'before-value' : /\s/.test(text.charAt(stop)) ? 'after-name' : 'tag'
      return place === 'before-value' ? stop + 1 : stop
    },
    'after-name'(text, at) {
      const next = searchOr(text, /\S/g, at)
      if (next === text.length) return next
      place = text[next] === '=' ? 'before-value' : 'tag'
      return place === 'before-value' ? next + 1 : next
    },
    'before-value'(text, at) {
      const next = searchOr(text, /\S/g, at)
      if (next === text.length) return next
      const character = text[next]
      if (character === '>') place = 'tag'
      else if (character === '"') openValue('double-quoted')
      else if (character === "'") openValue('single-quoted')
      else openValue('unquoted')
      return place === 'double-quoted' || place === 'single-quoted' ? next + 1 : next
    },
    'double-quoted': readQuoted('"'),
    'single-quoted': readQuoted("'"),
    unquoted(text, at) {
      const stop = searchOr(text, /[\s>]/g, at)
      attribute.text(text.slice(at, stop))
      if (stop < text.length) place = 'tag'
      return stop
    },
    comment(text, at) {
      const stop = searchOr(text, /--!?>/g, at)
      if (stop === text.length) return stop
      place = 'text'
      return text.indexOf('>', stop) + 1
    },
    declaration(text, at) {
      const stop = indexOr(text, '>', at)
      if (stop < text.length) place = 'text'
      return stop + 1
    },
    raw(text, at) {
      const stop = searchOr(text, new RegExp(`</${tagName}(?=[\\s/>])`, 'gi'), at)
      if (tagName === 'script') script.read(text.slice(at, stop))
      if (stop < text.length) place = 'text'
      return stop
    },
  }

  /** The text for a value in each context; empty if no value is safe there. */
  type Write = (value: unknown) => string
  const writeName: Write = (value) => {
    const name = toText(value)
    if (!isPlainAttribute(name) || !isPlainAttribute(attributeName + name)) return ''
    read(name)
    return name
  }
  const writeUnquoted: Write = (value) => escapeUnquoted(attribute.value(value))
  const writeQuoted: Write = (value) => escapeHtml(attribute.value(value))
  const writeNothing: Write = () => ''
  const writes: Readonly<Record<Place, Write>> = {
    text: (value) => escapeHtml(toText(value)),
    'tag-open': writeNothing,
    'tag-name': writeNothing,
    tag: (value) => {
      attributeName = ''
      return writeName(value)
    },
    'attribute-name': writeName,
    'after-name': (value) => {
      attributeName = ''
      place = 'tag'
      return writeName(value)
    },
    'before-value': (value) => {
      openValue('unquoted')
      return writeUnquoted(value)
    },
    'double-quoted': writeQuoted,
    'single-quoted': writeQuoted,
    unquoted: writeUnquoted,
    comment: writeNothing,
    declaration: writeNothing,
    raw: (value) => {
      if (tagName === 'style') return toCss(value)
      if (tagName !== 'script') return escapeHtml(toText(value))
      return script.place === 'comment' ? '' : toScript(value, script.place === 'string')
    },
  }

  const read = (text: string): void => {
    let at = 0
    while (at < text.length) at = reads[place](text, at)
  }
  return {
    text(text) {
      read(text)
      html += text
    },
    value(value) {
      html += writes[place](value)
    },
    get html() {
      return html
    },
    get length() {
      return html.length
    },
  }
}
