import { createUrlWriter, escapeHtml, toCss, toScript, toSrcset } from './escape.ts'
import { toText } from './values.ts'

/**
 * The value of an attribute while it is written. The returned text is escaped as HTML afterwards.
 */
export interface AttributeWriter {
  text(text: string): void
  value(value: unknown): string
}

const ignoreText = () => {}

type CreateAttribute = () => AttributeWriter

const plain: CreateAttribute = () => ({ text: ignoreText, value: toText })
const css: CreateAttribute = () => ({ text: ignoreText, value: toCss })
const srcset: CreateAttribute = () => ({ text: ignoreText, value: toSrcset })
/** The attribute contains a page. */
const srcdoc: CreateAttribute = () => ({
  text: ignoreText,
  value: (value) => escapeHtml(toText(value)),
})
const refused: CreateAttribute = () => ({ text: ignoreText, value: () => '' })
const script: CreateAttribute = () => {
  const reader = createScriptReader()
  return {
    text: (text) => reader.read(text),
    value: (value) =>
      reader.place === 'comment' ? '' : toScript(value, reader.place === 'string'),
  }
}

const urlNames = [
  ...['href', 'src', 'action', 'formaction', 'cite', 'poster', 'background', 'longdesc', 'data'],
  ...['xlink:href', 'ping', 'manifest', 'codebase', 'classid', 'profile', 'usemap', 'icon'],
  ...['lowsrc', 'dynsrc', 'archive'],
]

const byName = new Map<string, CreateAttribute>([
  ...urlNames.map((name) => [name, createUrlWriter] as const),
  ['style', css],
  ['srcset', srcset],
  ['imagesrcset', srcset],
  ['srcdoc', srcdoc],
  // In a <meta> element, a value could redirect the reader.
  ['content', refused],
  ['http-equiv', refused],
])

export function createAttribute(name: string): AttributeWriter {
  const lower = name.toLowerCase()
  return (lower.startsWith('on') ? script : (byName.get(lower) ?? plain))()
}

/**
 * Whether a value may be the name of an attribute: only names without a special meaning for
 * browsers.
 */
export function isPlainAttribute(name: string): boolean {
  const lower = name.toLowerCase()
  return /^[a-z0-9-]+$/.test(lower) && !lower.startsWith('on') && !byName.has(lower)
}

/** The context of a value in a script. */
type ScriptPlace = 'code' | 'string' | 'comment'

type Ending = '"' | "'" | '`' | '*/' | '\n'

/** Tracks a script just closely enough to know whether it is inside a string or a comment. */
export function createScriptReader() {
  let ending: Ending | undefined
  return {
    get place(): ScriptPlace {
      if (ending === undefined) return 'code'
      return ending === '*/' || ending === '\n' ? 'comment' : 'string'
    },
    read(text: string): void {
      for (let at = 0; at < text.length; at++) {
        if (ending === undefined) ending = toEnding(text, at)
        else if (text[at] === '\\' && ending !== '*/' && ending !== '\n') at++
        else if (text.startsWith(ending, at)) ending = undefined
      }
    },
  }
}

function toEnding(text: string, at: number): Ending | undefined {
  const character = text[at]
  if (character === '"' || character === "'" || character === '`') return character
  if (character !== '/') return undefined
  const next = text[at + 1]
  return next === '*' ? '*/' : next === '/' ? '\n' : undefined
}
