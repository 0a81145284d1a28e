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

/** For text, and for attributes in quotes of either kind. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'`\0]/g, (character) => entities[character] ?? character)
}

/** For attributes without quotes: nothing may end them, and they may not be empty. */
export function escapeUnquoted(text: string): string {
  if (text === '') return '&#xfffd;'
  return escapeHtml(text).replace(/[\s=]/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** Colours, sizes and names. Anything that could begin something else is left out. */
export function toCss(value: unknown): string {
  const text = toText(value)
  const isPlain = /^[\w\s#%.,+-]*$/.test(text) && !/--|expression|binding/i.test(text)
  return isPlain ? text : ''
}

/** A value in a script: a literal, or the rest of the string that it stands in. */
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
const runningSchemes = new Set(['javascript', 'vbscript', 'data'])

/** The value of one URL attribute, as it grows from texts of the template and values. */
export interface UrlWriter {
  text(text: string): void
  /** @returns what stands for the value. */
  value(value: unknown): string
}

/**
 * Values must not choose what happens on a click: alone or together with what stands before them
 * they only make links of harmless kinds. After `?` or `#` they are one piece of a query, before it
 * they are URLs, of which only what cannot stand in one is encoded.
 */
export function createUrlWriter(): UrlWriter {
  let soFar = ''
  let hasValue = false
  let isQuery = false
  const add = (text: string): void => {
    isQuery ||= /[?#]/.test(text)
    // A scheme is short; what decides is at the beginning.
    if (soFar.length < 1_000) soFar += text
  }
  return {
    text(text) {
      const before = toScheme(soFar)
      add(text)
      const after = toScheme(soFar)
      if (hasValue && before === undefined && after !== undefined && !allowedSchemes.has(after)) {
        throw new TemplateError('a value makes a link that is not http, https or mailto')
      }
    },
    value(value) {
      const text = toText(value).toWellFormed()
      const scheme = toScheme(soFar)
      if (scheme !== undefined && runningSchemes.has(scheme)) return ''
      hasValue = true
      if (isQuery) return encodeStrictly(text)
      const chosen = scheme === undefined ? toScheme(soFar + text) : undefined
      if (chosen !== undefined && !allowedSchemes.has(chosen)) return soFar === '' ? '#' : ''
      add(text)
      return encodeWhereNeeded(text)
    },
  }
}

/** As browsers see it, which skip white space and control characters. */
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

/** Candidates are separated by commas and spaces, so a value is one without either. */
export function toSrcset(value: unknown): string {
  return createUrlWriter().value(value).replaceAll(',', '%2C')
}
