import { chmod, chown, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { Account } from './account.ts'
import type { Binaries } from './binaries.ts'

/**
 * Containers often run under a user id that no file knows, and initdb ends when it cannot look up the
 * name of its user, although it is told which name to use. These are copies of the programs that ask
 * for the first user of the system instead (getpwent in place of getpwuid, which takes an argument
 * more and returns the same). They are only used to make a database: a server that runs does not look
 * up its own name. docs/decisions/019-user-ids-without-a-name.md has the alternatives.
 */
export interface NamelessPrograms extends AsyncDisposable {
  readonly initdb: string
}

const asked = Buffer.from('\0getpwuid\0')
const answered = Buffer.from('\0getpwent\0')

/** What initdb says when the user has no name. */
export function isNameMissing(complaint: string): boolean {
  return /could not look up effective user ID/.test(complaint)
}

/** Undefined where the programs do not look up names as we know it. */
export async function createNamelessPrograms(
  { initdb, postgres }: Binaries,
  account: Account | undefined,
): Promise<NamelessPrograms | undefined> {
  const copies = await Promise.all([initdb, postgres].map(replaceLookup))
  if (copies.includes(undefined)) return undefined
  const native = dirname(dirname(initdb))
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-initdb-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    await mkdir(join(folder, 'bin'))
    for (const [at, program] of [initdb, postgres].entries()) {
      const path = join(folder, 'bin', basename(program))
      await writeFile(path, copies[at] ?? '')
      await chmod(path, 0o755)
    }
    for (const name of ['lib', 'share']) await symlink(join(native, name), join(folder, name))
    await chmod(join(folder, 'bin'), 0o755)
    if (account) await chown(folder, account.uid, account.gid)
    return { initdb: join(folder, 'bin', basename(initdb)), [Symbol.asyncDispose]: remove }
  } catch (error) {
    await remove()
    throw error
  }
}

async function replaceLookup(program: string): Promise<Buffer | undefined> {
  const bytes = await readFile(program)
  const at = bytes.indexOf(asked)
  if (at < 0) return undefined
  answered.copy(bytes, at)
  return bytes
}
