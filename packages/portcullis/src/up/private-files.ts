import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs'
import { UpRefusal } from './errors.ts'

/** Windows has neither flag. */
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants
const maxBytes = 64 * 1024

/** @throws {UpRefusal} */
export function checkIsNoLink(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found !== undefined) refuseLink(path, found)
}

/**
 * Refuses symbolic links and files of other users. A cloned repository can contain such links, and so can a
 * folder in which others may write: what we write would end up in a file of their choice.
 * @throws {UpRefusal}
 */
export function checkOwnership(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found !== undefined) checkStats(path, found)
}

function refuseLink(path: string, stats: Stats): void {
  if (!stats.isSymbolicLink()) return
  throw new UpRefusal(
    `${path} is a symbolic link, which up does not follow. Replace it with what it points to, or name ` +
      'another folder: --data DIR',
  )
}

function checkStats(path: string, stats: Stats): void {
  refuseLink(path, stats)
  const own = process.getuid?.()
  if (own === undefined || stats.uid === own) return
  throw new UpRefusal(
    `${path} belongs to the user with id ${stats.uid}, and up runs as user ${own}. Run it as the owner, or ` +
      'name another folder: --data DIR',
  )
}

/**
 * Undefined when there is no such file.
 * @throws {UpRefusal} when it is a link, another user's, or not a small regular file
 */
export function readPrivateFile(path: string): string | undefined {
  return withPrivateFile(path, (fd) => readFileSync(fd, 'utf8'))
}

/** Takes the file from the group and from others. @throws {UpRefusal} as `readPrivateFile` */
export function closeToOthers(path: string): void {
  withPrivateFile(path, (fd) => {
    if ((fstatSync(fd).mode & 0o077) !== 0) fchmodSync(fd, 0o600)
  })
}

function withPrivateFile<T>(path: string, use: (fd: number) => T): T | undefined {
  checkOwnership(path)
  let fd: number
  try {
    // Without O_NONBLOCK, opening a named pipe would wait for its writer.
    fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
  try {
    const stats = fstatSync(fd)
    // Of the file that was opened: the name may lead to another one by now.
    checkStats(path, stats)
    if (!stats.isFile() || stats.size > maxBytes) {
      throw new UpRefusal(`${path} is not a file that up has written. Remove it and start again.`)
    }
    return use(fd)
  } finally {
    closeSync(fd)
  }
}

/** Replaces whatever has the name, and never writes through it. */
export function replaceFile(path: string, text: string): void {
  rmSync(path, { force: true })
  writeFileSync(path, text, { mode: 0o600, flag: 'wx' })
}
