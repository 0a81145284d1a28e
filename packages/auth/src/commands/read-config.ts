import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { toArgumentError, toArgumentFault } from '@portcullis/service-kit/cli/argument-faults'
import type { CommandIo } from '@portcullis/service-kit/cli/command'
import type { EffectiveSetting } from '@portcullis/service-kit/settings/effective-settings'
import { type Environment, toFaultText } from '@portcullis/service-kit/settings/env'
import { toHelpText } from '@portcullis/service-kit/settings/settings-help'
import { toReason } from '@portcullis/service-kit/text/reason'
import { chapters, type ParsedConfig, parseConfig } from '../config/config.ts'
import { explainFailure } from '../explain-failure.ts'
import type { WatchedFolder } from '../reloading/watch-folders.ts'

/** Options of all commands. */
export const configOptions = {
  config: { type: 'string', short: 'c' },
  'config-dir': { type: 'string', short: 'd' },
} as const

export interface ConfigPlaces {
  readonly config?: string | undefined
  readonly 'config-dir'?: string | undefined
}

export const configHelp = `  -c, --config FILE     read variables from this file instead of .env
  -d, --config-dir DIR  also read the files *.env of this folder, in the order
                        of their names; a later file overrides an earlier one.
                        The environment overrides all files`

/** Reads the configuration. Returns undefined if it is invalid, after printing all errors. */
export function readConfig(
  { env, stderr }: CommandIo,
  places: ConfigPlaces,
  { isForRunning = false }: ReadOptions = {},
): Omit<LoadedConfig, 'faults'> | undefined {
  let loaded: LoadedConfig
  try {
    const upFile = isForRunning && isUnconfigured(env, places) ? findUpFile() : undefined
    if (upFile !== undefined) {
      stderr.write(`Using the configuration of portcullis up (${upFile}).\n`)
    }
    loaded = loadConfig(env, upFile === undefined ? places : { config: upFile })
  } catch (error) {
    stderr.write(`${explainFailure(error)}\n`)
    return undefined
  }
  const { faults, notes } = loaded
  if (faults.length === 0) return loaded
  for (const note of notes) stderr.write(`warning: ${note}\n`)
  stderr.write(toRefusal(faults.map(toFaultText)))
  if (isForRunning) stderr.write(neededHelp)
  return undefined
}

export interface LoadedConfig extends ParsedConfig {
  /** The environment, and the variables in files. */
  readonly sources: readonly Environment[]
}

/** Reads the configuration, which may be invalid. @throws {Error} if a file cannot be read. */
export function loadConfig(env: Environment, places: ConfigPlaces): LoadedConfig {
  const files = readFiles(places)
  const inFiles: Environment = Object.assign({}, ...files.map(({ content }) => content.variables))
  const sources = [env, inFiles]
  const parsed = parseConfig(...sources)
  const unread = files.flatMap(({ path, content }) =>
    content.unread.map((line) => `${path}, line ${line} is not NAME=value and is ignored`),
  )
  const effective = parsed.config.effective.map((setting) => withFile(setting, files))
  return {
    ...parsed,
    config: { ...parsed.config, effective },
    notes: [...unread, ...parsed.notes],
    sources,
  }
}

/** A later file overrides an earlier one. */
function withFile(setting: EffectiveSetting, files: readonly NamedFile[]): EffectiveSetting {
  if (setting.source !== 'file') return setting
  const name = setting.set_as ?? setting.name
  const file = files.findLast(({ content }) => content.variables[name] !== undefined)
  return file === undefined ? setting : { ...setting, file: file.path }
}

/** Returns the folders in which configuration files are, for a server that reloads them. */
export function listConfigFolders(
  places: ConfigPlaces,
  keyFile: string | undefined,
): readonly WatchedFolder[] {
  const { config, 'config-dir': folder } = places
  const hasFile = config !== undefined || existsSync('.env')
  const files = [hasFile ? (config ?? '.env') : undefined, keyFile]
  return [
    ...files
      .filter((path) => path !== undefined)
      .map((path) => ({
        path: dirname(resolve(path)),
        isRelevant: (name: string) => name === basename(path),
      })),
    ...(folder === undefined
      ? []
      : [{ path: resolve(folder), isRelevant: (name: string) => name.endsWith('.env') }]),
  ]
}

interface ReadOptions {
  /**
   * Whether the command acts on a server that may already be configured, such as that of
   * `portcullis up`.
   */
  readonly isForRunning?: boolean
}

const neededHelp = `
This command needs the configuration of the server: set the same variables, or
pass a file with --config FILE.
For the server of portcullis up, run this command in the folder where you
started portcullis up, or below it.
If you started it with --data DIR, pass --config DIR/auth.env to auth commands,
or --data DIR to portcullis users.
`

/**
 * Finds the configuration that `portcullis up` wrote for its auth server, in this folder or the
 * nearest one above it.
 */
function findUpFile(): string | undefined {
  for (let folder = resolve(), below = ''; folder !== below; folder = dirname(folder)) {
    const path = join(folder, '.portcullis', 'auth.env')
    if (isOwn(path)) return relative('', path)
    below = folder
  }
  return undefined
}

/**
 * Ignores files of other users: in a shared folder such as /tmp, another user could place a file with
 * the URL of their database.
 */
function isOwn(path: string): boolean {
  try {
    const { uid } = statSync(path)
    return uid === (process.getuid?.() ?? uid)
  } catch {
    // It does not exist, or is in a folder of another user.
    return false
  }
}

/**
 * A server cannot start without these, so if one is set, the environment is meant for a particular
 * server.
 */
const ownVariables = /^(?:AUTH_|GOTRUE_)?(?:(?:DB_)?DATABASE_URL|SITE_URL|JWT_SECRET)$/

function isUnconfigured(env: CommandIo['env'], places: ConfigPlaces): boolean {
  if (places.config !== undefined || places['config-dir'] !== undefined) return false
  const inFile = readFiles({}).flatMap(({ content }) => Object.keys(content.variables))
  return ![...Object.keys(env), ...inFile].some((name) => ownVariables.test(name))
}

/** @param faults one line each. */
export function toRefusal(faults: readonly string[]): string {
  const lines = faults.map((fault) => `  ${fault}\n`).join('')
  return `The configuration is invalid:\n${lines}`
}

interface NamedFile {
  readonly path: string
  readonly content: EnvFile
}

/** `.env` is optional; files named by options must exist. */
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

/** @throws {Error} with the path if it cannot be read. */
function reading<Value>(path: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    throw new Error(`${path} cannot be read: ${toReason(error)}`)
  }
}

/**
 * Returns undefined if the arguments are invalid, after printing the error.
 * @param command as in the help, such as `auth migrate`.
 */
export function readOptions<Own extends OwnOptions = Record<never, never>>(
  args: readonly string[],
  { stderr }: CommandIo,
  command: string,
  { takesArguments = false, own }: { readonly takesArguments?: boolean; readonly own?: Own } = {},
) {
  const options = { ...configOptions, ...own } as typeof configOptions & Own
  try {
    return parseArgs({ args: [...args], options, allowPositionals: takesArguments })
  } catch (error) {
    stderr.write(toArgumentError(command, toArgumentFault(error)))
    return undefined
  }
}

type OwnOptions = Readonly<
  Record<string, { readonly type: 'boolean' | 'string'; readonly multiple?: boolean }>
>

interface EnvFile {
  readonly variables: Environment
  /** Numbers of the lines that are not assignments. */
  readonly unread: readonly number[]
}

const assignment = /^\s*(?:export\s+)?(?<name>[A-Za-z_][\w.-]*)\s*=(?<rest>.*)$/

/** By opening quote: matches up to the closing quote, which may be on a later line. */
const quoted: Readonly<Record<string, RegExp>> = {
  "'": /^'(?<text>[^']*)'[^\S\n]*(?:#[^\n]*)?(?:\n|$)/,
  '`': /^`(?<text>[^`]*)`[^\S\n]*(?:#[^\n]*)?(?:\n|$)/,
  '"': /^"(?<text>(?:\\.|[^"\\])*)"[^\S\n]*(?:#[^\n]*)?(?:\n|$)/s,
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', '"': '"', '\\': '\\' }

/**
 * Parses a `.env` file as GoTrue does, but without references to other variables. A # starts a
 * comment only after a space, because passwords may contain one.
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
  // A quote without a closing quote is an ordinary character.
  if (text === undefined) return { value: rest.replace(/\s#.*$/, '').trim(), lineCount: 1 }
  const value = begun.startsWith('"')
    ? text.replaceAll(/\\(.)/g, (whole, character: string) => escapes[character] ?? whole)
    : text
  return { value, lineCount: text.split('\n').length }
}

/** Lists all variables for `--help`. */
export function toEnvironmentHelp(): string {
  return `Environment variables, with their defaults; the prefix GOTRUE_ also works:\n\n${toHelpText(chapters)}`
}
