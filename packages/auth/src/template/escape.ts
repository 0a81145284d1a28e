import { TemplateError } from './template-error.ts'
import { toText } from './values.ts'

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
  '\0': '\ufffd',
}

/** For text, and for attributes in either kind of quotes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'`\0]/g, (character) => entities[character] ?? character)
}

/** For attributes without quotes, whose value must contain no delimiters and must not be empty. */
export function escapeUnquoted(text: string): string {
  if (text === '') return '&#xfffd;'
  return escapeHtml(text).replace(/[\s=]/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** Allows colours, sizes and names. A value with any other content is omitted. */
export function toCss(value: unknown): string {
  const text = toText(value)
  const isPlain = /^[\w\s#%.,+-]*$/.test(text) && !/--|expression|binding/i.test(text)
  return isPlain ? text : ''
}

/** A value in a script: a literal, or a part of the string that contains it. */
export function toScript(value: unknown, isInString: boolean): string {
  if (isInString) return escapeScriptString(toText(value))
  if (typeof value === 'string') return `"${escapeScriptString(value)}"`
  const json = value === undefined ? 'null' : JSON.stringify(value)
  const safe = json.replace(/[<>&'`\u2028\u2029]/g, toScriptEscape)
  return ` ${safe} `
}

function escapeScriptString(text: string): string {
  return text.replace(/[^A-Za-z0-9 _.,@]/g, toScriptEscape)
}

function toScriptEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

const allowedSchemes = new Set(['http', 'https', 'mailto'])
/** Schemes whose URLs can contain code. */
const codeSchemes = new Set(['javascript', 'vbscript', 'data'])

/** Writes one URL attribute from texts of the template and values. */
export interface UrlWriter {
  text(text: string): void
  /** @returns the text to write for the value. */
  value(value: unknown): string
}

/**
 * Values must not choose what happens on a click: alone or combined with the text before them, they
 * only produce links with harmless schemes. After `?` or `#`, a value is encoded as a component of
 * the query; before that, it is a URL, and only invalid characters are encoded.
 */
export function createUrlWriter(): UrlWriter {
  let soFar = ''
  let hasValue = false
  let isQuery = false
  const add = (text: string): void => {
    isQuery ||= /[?#]/.test(text)
    // A scheme is short, so only the beginning matters.
    if (soFar.length < 1_000) soFar += text
  }
  return {
    text(text) {
      const before = toScheme(soFar)
      add(text)
      const after = toScheme(soFar)
      if (hasValue && before === undefined && after !== undefined && !allowedSchemes.has(after)) {
        throw new TemplateError('a value produces a link that is not http, https or mailto')
      }
    },
    value(value) {
      const text = toText(value).toWellFormed()
      const scheme = toScheme(soFar)
      if (scheme !== undefined && codeSchemes.has(scheme)) return ''
      hasValue = true
      if (isQuery) return encodeStrictly(text)
      const chosen = scheme === undefined ? toScheme(soFar + text) : undefined
      if (chosen !== undefined && !allowedSchemes.has(chosen)) return soFar === '' ? '#' : ''
      add(text)
      return encodeWhereNeeded(text)
    },
  }
}

/** Interprets the scheme as browsers do, which skip white space and control characters. */
function toScheme(url: string): string | undefined {
  const [, scheme] = /^([^/?#:]*):/.exec(url.replace(/[\p{Cc}\p{Cf}\p{Z}]/gu, '')) ?? []
  return scheme?.toLowerCase()
}

function encodeStrictly(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, toPercent)
}

function encodeWhereNeeded(text: string): string {
  return text.replace(/%(?![0-9a-f]{2})|[^\w\-.~:/?#[\]@!$&*+,;=%]/giu, toPercent)
}

function toPercent(character: string): string {
  return Array.from(
    Buffer.from(character),
    (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
  ).join('')
}

/** Candidates are separated by commas and spaces, so both are encoded in a value. */
export function toSrcset(value: unknown): string {
  return createUrlWriter().value(value).replaceAll(',', '%2C')
}
