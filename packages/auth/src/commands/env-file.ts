import type { Environment } from '@portcullis/service-kit/env'

export interface EnvFile {
  readonly variables: Environment
  /** Numbers of the lines that say nothing anybody understands. */
  readonly unread: readonly number[]
}

const assignment = /^\s*(?:export\s+)?(?<name>[A-Za-z_][\w.-]*)\s*=(?<rest>.*)$/

/** By the quote at the beginning: all up to its partner, which may be some lines below. */
const quoted: Readonly<Record<string, RegExp>> = {
  "'": /^'(?<text>[^']*)'[^\S\n]*(?:#[^\n]*)?(?:\n|$)/,
  '`': /^`(?<text>[^`]*)`[^\S\n]*(?:#[^\n]*)?(?:\n|$)/,
  '"': /^"(?<text>(?:\\.|[^"\\])*)"[^\S\n]*(?:#[^\n]*)?(?:\n|$)/s,
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', '"': '"', '\\': '\\' }

/**
 * A `.env` as the server before reads it, but without its references to other variables: a # begins
 * a comment only behind a space, so that it may be part of a password.
 */
export function parseEnvFile(text: string): EnvFile {
  const variables: Record<string, string> = {}
  const unread: number[] = []
  const lines = text
    .replace(/^\uFEFF/, '')
    .replaceAll('\r\n', '\n')
    .split('\n')
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (/^\s*(?:#|$)/.test(line)) continue
    const { name, rest } = assignment.exec(line)?.groups ?? {}
    if (name === undefined || rest === undefined) {
      unread.push(at + 1)
      continue
    }
    const { value, lineCount } = readValue(rest, lines.slice(at + 1))
    variables[name] = value
    at += lineCount - 1
  }
  return { variables, unread }
}

function readValue(rest: string, below: readonly string[]): { value: string; lineCount: number } {
  const begun = rest.trimStart()
  const pattern = quoted[begun.charAt(0)]
  const text = pattern?.exec([begun, ...below].join('\n'))?.groups?.['text']
  // A quote without a partner is a character like any other.
  if (text === undefined) return { value: rest.replace(/\s#.*$/, '').trim(), lineCount: 1 }
  const value = begun.startsWith('"')
    ? text.replaceAll(/\\(.)/g, (whole, character: string) => escapes[character] ?? whole)
    : text
  return { value, lineCount: text.split('\n').length }
}
