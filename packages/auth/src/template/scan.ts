import { templateErrorAt } from './template-error.ts'

/** A token of an action. */
export type Token = { readonly at: number } & (
  | { readonly type: 'literal'; readonly value: unknown }
  /** `.a.b`, `.` and `$.a` */
  | { readonly type: 'path'; readonly isRoot: boolean; readonly names: readonly string[] }
  | { readonly type: 'word'; readonly text: string }
  | { readonly type: 'mark'; readonly text: string }
)

/** A part of a template: text, or an action between `{{` and `}}`. */
export type Segment =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'action'; readonly at: number; readonly tokens: readonly Token[] }

const words: Readonly<Record<string, unknown>> = { true: true, false: false, nil: undefined }

const patterns = {
  comment: /\{\{(?:-\s+)?\/\*.*?\*\/(?:\s+-)?\}\}/sy,
  space: /\s+/y,
  /** A minus is a trim marker only after a space. */
  end: /(?:\s-)?\}\}/y,
  quoted: /"(?:[^"\\\n]|\\.)*"/y,
  raw: /`[^`]*`/y,
  number: /[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?![\w.])/y,
  path: /\$?(?:\.[\p{L}_][\p{L}\p{Nd}_]*)+/uy,
  variable: /\$[\p{L}\p{Nd}_]*/uy,
  word: /[\p{L}_][\p{L}\p{Nd}_]*/uy,
  mark: /[().|]/y,
}

/** Splits a template into texts and actions, and handles trim markers and comments. */
export function scan(source: string): readonly Segment[] {
  const segments: Segment[] = []
  let at = 0
  let isTrimmed = false
  const addText = (to: number, isTrimmedAfter: boolean): void => {
    let text = source.slice(at, to)
    if (isTrimmed) text = text.trimStart()
    if (isTrimmedAfter) text = text.trimEnd()
    if (text !== '') segments.push({ type: 'text', text })
  }
  for (;;) {
    const open = source.indexOf('{{', at)
    if (open < 0) break
    addText(open, /^\{\{-\s/.test(source.slice(open, open + 4)))
    const comment = match(patterns.comment, source, open)
    if (comment !== undefined) {
      at = open + comment.length
    } else {
      const { tokens, end } = scanAction(source, open)
      segments.push({ type: 'action', at: open, tokens })
      at = end
    }
    isTrimmed = /\s-\}\}$/.test(source.slice(open, at))
  }
  addText(source.length, false)
  return segments
}

function scanAction(source: string, open: number) {
  const tokens: Token[] = []
  let at = open + 2
  if (/^-\s/.test(source.slice(at, at + 2))) at++
  if (source.startsWith('/*', at) || /^\s+\/\*/.test(source.slice(at))) {
    throw templateErrorAt(source, open, 'this comment has no end: it must be {{/* … */}}')
  }
  while (at < source.length) {
    const end = match(patterns.end, source, at)
    if (end !== undefined) return { tokens, end: at + end.length }
    const space = match(patterns.space, source, at)
    if (space !== undefined) {
      // The end may start with the last space.
      at += space.length
      const endAfter = match(patterns.end, source, at - 1)
      if (endAfter !== undefined) return { tokens, end: at - 1 + endAfter.length }
      continue
    }
    const { token, length } = scanToken(source, at)
    tokens.push(token)
    at += length
  }
  throw templateErrorAt(source, open, 'this {{ has no }}')
}

function scanToken(source: string, at: number): { token: Token; length: number } {
  const quoted = match(patterns.quoted, source, at)
  if (quoted !== undefined) {
    const value = unquote(quoted)
    if (value === undefined) throw templateErrorAt(source, at, `${quoted} is not a valid string`)
    return { token: { type: 'literal', value, at }, length: quoted.length }
  }
  const raw = match(patterns.raw, source, at)
  if (raw !== undefined) {
    return { token: { type: 'literal', value: raw.slice(1, -1), at }, length: raw.length }
  }
  const number = match(patterns.number, source, at)
  if (number !== undefined) {
    return { token: { type: 'literal', value: Number(number), at }, length: number.length }
  }
  const path = match(patterns.path, source, at)
  if (path !== undefined) {
    const [first = '', ...names] = path.split('.')
    return { token: { type: 'path', isRoot: first === '$', names, at }, length: path.length }
  }
  const variable = match(patterns.variable, source, at)
  if (variable !== undefined) {
    if (variable !== '$') {
      throw templateErrorAt(source, at, `variables such as ${variable} are not supported`)
    }
    return { token: { type: 'path', isRoot: true, names: [], at }, length: 1 }
  }
  const word = match(patterns.word, source, at)
  if (word !== undefined) {
    const token: Token = Object.hasOwn(words, word)
      ? { type: 'literal', value: words[word], at }
      : { type: 'word', text: word, at }
    return { token, length: word.length }
  }
  const mark = match(patterns.mark, source, at)
  if (mark === undefined) {
    const character = String.fromCodePoint(source.codePointAt(at) ?? 0)
    throw templateErrorAt(source, at, `unexpected ${JSON.stringify(character)}`)
  }
  const token: Token =
    mark === '.' ? { type: 'path', isRoot: false, names: [], at } : { type: 'mark', text: mark, at }
  return { token, length: mark.length }
}

function match(pattern: RegExp, source: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(source)?.[0]
}

/** Only the escapes that JSON also has are supported. */
function unquote(quoted: string): unknown {
  try {
    return JSON.parse(quoted.replaceAll('\t', '\\t'))
  } catch {
    return undefined
  }
}

/** Returns the index of the text, or the end if it is not found. */
export function indexOr(text: string, wanted: string, at: number): number {
  const found = text.indexOf(wanted, at)
  return found < 0 ? text.length : found
}

/** The same for a pattern with the flag `g`. */
export function searchOr(text: string, pattern: RegExp, at: number): number {
  pattern.lastIndex = at
  return pattern.exec(text)?.index ?? text.length
}
