import type { BigIntStats } from 'node:fs'
import { lstat, readdir, readlink, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'

export interface RulePlaceSettings {
  /** RUNTIME_ROOT: a directory, or a link to one. */
  readonly root: string
  /** RUNTIME_SUBDIRECTORY; empty: none. */
  readonly subdirectory: string
  /** RUNTIME_APPDIRECTORY, where the files are. */
  readonly appDirectory: string
  /** RUNTIME_WATCH_ROOT: whether a change of the root link counts, or one of the files. */
  readonly watchRoot: boolean
  /** How to name another directory, for a message. Default: that of the service. */
  readonly advice?: string
}

/** Where the rule files are, and what to watch to know of a change. */
export interface RulePlace {
  /** As configured, for people. */
  readonly directory: string
  /** How to name another one, for a message. */
  readonly advice: string
  /** Rejects when there is none. Links are resolved once, so that one load reads one directory. */
  readonly resolve: () => Promise<string>
  /** The name of a file in messages: that of envoyproxy/ratelimit. */
  readonly toMessageName: (file: string) => string
  readonly watched: {
    readonly directory: string
    readonly entry: string | undefined
    readonly fingerprint: Fingerprint
  }
}

const serviceAdvice =
  'name another with --rules DIRECTORY, or with RUNTIME_ROOT, RUNTIME_SUBDIRECTORY and RUNTIME_APPDIRECTORY'

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

/** Nothing counts inside, except that the directory with the files is there at all. */
async function fingerprintRootWith(root: string, directory: string): Promise<string | undefined> {
  const identity = await fingerprintIdentity(directory)
  return identity && `${await fingerprintRoot(root)}\0${identity}`
}

function toDotted(path: string): string {
  return path.replaceAll(sep, '.')
}

/**
 * Two equal texts: nothing has changed in between. Undefined: there is nothing. Comparing them
 * finds changes where no event tells of them, as on a network file system.
 */
export type Fingerprint = () => Promise<string | undefined>

/** Which directory a path leads to, however many links are on the way. */
export async function fingerprintIdentity(directory: string): Promise<string | undefined> {
  const found = await orUndefined(stat(directory, { bigint: true }))
  return found?.isDirectory() ? toIdentity(found) : undefined
}

/** All entries of a directory, and what the links among them lead to. */
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

/** A directory or a link to one, but not what is inside. */
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

/** Whatever keeps us from looking at a file, we cannot see it. */
async function orUndefined<Value>(value: Promise<Value>): Promise<Value | undefined> {
  try {
    return await value
  } catch {
    return undefined
  }
}
