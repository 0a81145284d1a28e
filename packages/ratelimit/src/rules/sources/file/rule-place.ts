import type { BigIntStats } from 'node:fs'
import { lstat, readdir, readlink, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'

export interface RulePlaceSettings {
  /** RUNTIME_ROOT: a folder, or a link to one. */
  readonly root: string
  /** RUNTIME_SUBDIRECTORY; may be empty. */
  readonly subdirectory: string
  /** RUNTIME_APPDIRECTORY, where the files are. */
  readonly appDirectory: string
  /** RUNTIME_WATCH_ROOT: whether to watch the root link instead of the files. */
  readonly watchRoot: boolean
  /** How to configure another folder, for a message. Default: the advice for the service. */
  readonly advice?: string
}

/** The location of the rule files, and what to watch for changes. */
export interface RulePlace {
  /** The path as configured, for messages. */
  readonly directory: string
  /** How to configure another folder, for a message. */
  readonly advice: string
  /** Rejects when it does not exist. Links are resolved once, so that one load reads one folder. */
  readonly resolve: () => Promise<string>
  /** The name of a file in messages, as in envoyproxy/ratelimit. */
  readonly toMessageName: (file: string) => string
  readonly watched: {
    readonly directory: string
    readonly entry: string | undefined
    readonly fingerprint: Fingerprint
  }
}

const serviceAdvice =
  'set another one with --rules DIR, or with RUNTIME_ROOT, RUNTIME_SUBDIRECTORY and RUNTIME_APPDIRECTORY'

export function toRulePlace(settings: RulePlaceSettings): RulePlace {
  const root = resolve(settings.root)
  const below = join(settings.subdirectory, settings.appDirectory)
  const directory = join(root, below)
  const { advice = serviceAdvice } = settings
  return settings.watchRoot
    ? {
        directory,
        advice,
        resolve: async () => realpath(join(await realpath(root), below)),
        toMessageName: (file) => toDotted(join(settings.appDirectory, file)),
        watched: {
          directory: dirname(root),
          entry: basename(root),
          fingerprint: () => fingerprintRootWith(root, directory),
        },
      }
    : {
        directory,
        advice,
        resolve: () => realpath(directory),
        toMessageName: (file) => file,
        watched: {
          directory,
          entry: undefined,
          fingerprint: () => fingerprintEntries(directory),
        },
      }
}

/** Ignores the content, except for the existence of the folder with the files. */
async function fingerprintRootWith(root: string, directory: string): Promise<string | undefined> {
  const identity = await fingerprintIdentity(directory)
  return identity && `${await fingerprintRoot(root)}\0${identity}`
}

function toDotted(path: string): string {
  return path.replaceAll(sep, '.')
}

/**
 * Two equal texts mean that nothing has changed. Undefined means that nothing exists. Comparing them finds
 * changes without events, for example on a network file system.
 */
export type Fingerprint = () => Promise<string | undefined>

/** Identifies the folder that a path leads to, through any number of links. */
export async function fingerprintIdentity(directory: string): Promise<string | undefined> {
  const found = await orUndefined(stat(directory, { bigint: true }))
  return found?.isDirectory() ? toIdentity(found) : undefined
}

/** Covers all entries of a folder, and the targets of links among them. */
export async function fingerprintEntries(directory: string): Promise<string | undefined> {
  const names = await orUndefined(readdir(directory))
  if (names === undefined) return undefined
  const entries = names.sort().map(async (name) => {
    const found = await orUndefined(stat(join(directory, name), { bigint: true }))
    return `${name}\0${found === undefined ? 'gone' : toState(found)}`
  })
  const identity = await fingerprintIdentity(directory)
  return [identity, ...(await Promise.all(entries))].join('\0')
}

/** Covers a folder or a link to one, but not its content. */
async function fingerprintRoot(root: string): Promise<string | undefined> {
  const found = await orUndefined(lstat(root, { bigint: true }))
  if (found === undefined) return undefined
  if (!found.isSymbolicLink()) return toIdentity(found)
  return `${toState(found)} ${await orUndefined(readlink(root))}`
}

function toIdentity({ dev, ino }: BigIntStats): string {
  return `${dev} ${ino}`
}

function toState({ dev, ino, mode, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev} ${ino} ${mode} ${size} ${mtimeNs} ${ctimeNs}`
}

/** A file that cannot be examined counts as missing. */
async function orUndefined<Value>(value: Promise<Value>): Promise<Value | undefined> {
  try {
    return await value
  } catch {
    return undefined
  }
}
