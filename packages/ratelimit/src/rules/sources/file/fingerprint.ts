import type { BigIntStats } from 'node:fs'
import { lstat, readdir, readlink, stat } from 'node:fs/promises'
import { join } from 'node:path'

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
export async function fingerprintRoot(root: string): Promise<string | undefined> {
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
