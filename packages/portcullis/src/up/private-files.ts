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
import { toCode } from '@portcullis/service-kit/text/reason'
import { UpRefusal } from './errors.ts'

/** Windows does not have these flags. */
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants
const maxBytes = 64 * 1024

/** @throws {UpRefusal} */
export function refuseSymbolicLink(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found !== undefined) refuseLink(path, found)
}

/**
 * Refuses symbolic links and files of other users. A cloned repository can contain such links, and so can a
 * folder that other users may write to; `up` would then write to a file of their choice.
 * @throws {UpRefusal}
 */
export function checkOwnership(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found !== undefined) checkStats(path, found)
}

function refuseLink(path: string, stats: Stats): void {
  if (!stats.isSymbolicLink()) return
  throw new UpRefusal(
    `${path} is a symbolic link, which up does not follow. Replace it with its target, or choose ` +
      'another folder with --data DIR.',
  )
}

function checkStats(path: string, stats: Stats): void {
  refuseLink(path, stats)
  const uid = process.getuid?.()
  if (uid === undefined || stats.uid === uid) return
  throw new UpRefusal(
    `${path} belongs to user id ${stats.uid}, but up runs as user id ${uid}. Run it as the owner, or ` +
      'choose another folder with --data DIR.',
  )
}

/**
 * Undefined if the file does not exist.
 * @throws {UpRefusal} if it is a link, belongs to another user, or is not a small regular file
 */
export function readPrivateFile(path: string): string | undefined {
  return withPrivateFile(path, (fd) => readFileSync(fd, 'utf8'))
}

/** Removes access for group and others. @throws {UpRefusal} as `readPrivateFile` */
export function restrictToOwner(path: string): void {
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
    if (toCode(error) === 'ENOENT') return undefined
    throw error
  }
  try {
    const stats = fstatSync(fd)
    // Checks the opened file, because the path may lead to another file by now.
    checkStats(path, stats)
    if (!stats.isFile() || stats.size > maxBytes) {
      throw new UpRefusal(`${path} was not written by up. Delete it and start again.`)
    }
    return use(fd)
  } finally {
    closeSync(fd)
  }
}

/** Deletes an existing file or link first, so that nothing is written through a link. */
export function replaceFile(path: string, text: string): void {
  rmSync(path, { force: true })
  writeFileSync(path, text, { mode: 0o600, flag: 'wx' })
}
