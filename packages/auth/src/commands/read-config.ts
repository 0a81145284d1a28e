import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { CommandIo } from '@portcullis/service-kit/command'
import { type Environment, toFaultText } from '@portcullis/service-kit/env'
import { toHelpText } from '@portcullis/service-kit/settings-help'
import { chapters, type ParsedConfig, parseConfig } from '../config/config.ts'
import { toReason } from './reason.ts'

/** What all commands take. */
export const configOptions = {
  config: { type: 'string', short: 'c' },
  'config-dir': { type: 'string', short: 'd' },
} as const

export interface ConfigPlaces {
  readonly config?: string | undefined
  readonly 'config-dir'?: string | undefined
}

export const configHelp = `  -c, --config FILE        read this file of variables in place of .env
  -d, --config-dir FOLDER  read its files *.env as well, by name: of two that say something of one
                           variable the last counts. The environment wins over all files`

/** The configuration; undefined when it cannot be used, and everything wrong with it was said. */
export function readConfig(
  { env, stderr }: CommandIo,
  places: ConfigPlaces,
  { isForRunning = false }: ReadOptions = {},
): Omit<ParsedConfig, 'faults'> | undefined {
  let files: readonly NamedFile[]
  try {
    const upFile = isForRunning && hasNone(env, places) ? findUpFile() : undefined
    if (upFile !== undefined) {
      stderr.write(`Using the auth server of portcullis up (${upFile}).\n`)
    }
    files = readFiles(upFile === undefined ? places : { config: upFile })
  } catch (error) {
    stderr.write(`${toReason(error)}\n`)
    return undefined
  }
  const inFiles = Object.assign({}, ...files.map(({ content }) => content.variables))
  const { config, faults, notes: doubts, remarks } = parseConfig(env, inFiles)
  const unread = files.flatMap(({ path, content }) =>
    content.unread.map((line) => `${path}, line ${line} is not NAME=value: nobody reads it`),
  )
  const notes = [...unread, ...doubts]
  if (faults.length === 0) return { config, notes, remarks }
  for (const note of notes) stderr.write(`warning: ${note}\n`)
  stderr.write(toRefusal(faults.map(toFaultText)))
  if (isForRunning) stderr.write(neededHelp)
  return undefined
}

interface ReadOptions {
  /** Whether the command is about a server that others have configured, such as that of `portcullis up`. */
  readonly isForRunning?: boolean
}

const neededHelp = `
This command needs the configuration of the server: set the same variables, or name a file of them with --config FILE.
The server of portcullis up is found in the folder in which up was started, and in the folders below. With
up --data DIR, use --config DIR/auth.env.
`

/** The configuration that `portcullis up` leaves of its auth server, in this folder or the next one above. */
function findUpFile(): string | undefined {
  for (let folder = resolve(), below = ''; folder !== below; folder = dirname(folder)) {
    const path = join(folder, '.portcullis', 'auth.env')
    if (isOwn(path)) return relative('', path)
    below = folder
  }
  return undefined
}

/** In a folder such as /tmp another user could leave the address of a database of their own. */
function isOwn(path: string): boolean {
  try {
    const { uid } = statSync(path)
    return uid === (process.getuid?.() ?? uid)
  } catch {
    // It does not exist, or is in a folder of another user.
    return false
  }
}

/** No server starts without these, so one that is set belongs to a certain server. */
const ownVariables = /^(?:AUTH_|GOTRUE_)?(?:(?:DB_)?DATABASE_URL|SITE_URL|JWT_SECRET)$/

function hasNone(env: CommandIo['env'], places: ConfigPlaces): boolean {
  if (places.config !== undefined || places['config-dir'] !== undefined) return false
  const inFile = readFiles({}).flatMap(({ content }) => Object.keys(content.variables))
  return ![...Object.keys(env), ...inFile].some((name) => ownVariables.test(name))
}

/** @param faults one line each. */
export function toRefusal(faults: readonly string[]): string {
  const lines = faults.map((fault) => `  ${fault}\n`).join('')
  return `The server cannot start: the configuration is not right.\n${lines}`
}

interface NamedFile {
  readonly path: string
  readonly content: EnvFile
}

/** Nobody needs a `.env`; what was asked for must be there. */
function readFiles({ config, 'config-dir': folder }: ConfigPlaces): NamedFile[] {
  const isThere = config !== undefined || existsSync('.env')
  const paths = isThere ? [config ?? '.env'] : []
  if (folder !== undefined) paths.push(...listFolder(folder))
  return paths.map((path) => ({
    path,
    content: reading(path, () => parseEnvFile(readFileSync(path, 'utf8'))),
  }))
}

function listFolder(folder: string): string[] {
  const names = reading(folder, () => readdirSync(folder).filter((name) => name.endsWith('.env')))
  return names.sort().map((name) => join(folder, name))
}

/** @throws {Error} with what cannot be read. */
function reading<Value>(path: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    throw new Error(`${path} cannot be read: ${toReason(error)}`)
  }
}

/** Undefined when they make no sense, and that was said. */
export function readOptions<Own extends OwnOptions = Record<never, never>>(
  args: readonly string[],
  { stderr }: CommandIo,
  usage: string,
  { takesWords = false, own }: { readonly takesWords?: boolean; readonly own?: Own } = {},
) {
  const options = { ...configOptions, ...own } as typeof configOptions & Own
  try {
    return parseArgs({ args: [...args], options, allowPositionals: takesWords })
  } catch (error) {
    stderr.write(`${toReason(error)}\n\n${usage}`)
    return undefined
  }
}

type OwnOptions = Readonly<Record<string, { readonly type: 'boolean' | 'string' }>>

interface EnvFile {
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

/** All variables, for `--help`. */
export function toEnvironmentHelp(): string {
  return `Environment, also with the prefix GOTRUE_:\n\n${toHelpText(chapters)}`
}
