import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** The last commit of the previous release; its migrations end with `oldestServer`. */
export const previousCommit = 'b47229bb16f19ec7ce7c84dc935a6e7ad73554ad'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../../../../..')

export interface PackedRelease extends AsyncDisposable {
  /** The folder of the checkout. */
  readonly folder: string
  /** The main file of the auth server. */
  readonly main: string
}

/**
 * Extracts the source of a commit into a new folder, with the dependencies that are installed here.
 * Returns undefined if this checkout does not have the commit, for example in a shallow clone.
 */
export async function packRelease(commit = previousCommit): Promise<PackedRelease | undefined> {
  const exists = await run('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: root }).then(
    () => true,
    () => false,
  )
  if (!exists) return undefined
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-previous-'))
  const archive = join(folder, 'archive.tar')
  await run('git', ['archive', '--output', archive, commit], { cwd: root })
  await run('tar', ['-xf', archive, '-C', folder])
  await linkDependencies(folder)
  return {
    folder,
    main: join(folder, 'packages/auth/src/main.ts'),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Links the packages of this repository from the commit, and all others from this checkout. */
async function linkDependencies(folder: string): Promise<void> {
  const [from, to] = [join(root, 'node_modules'), join(folder, 'node_modules')]
  await mkdir(join(to, '@portcullis'), { recursive: true })
  for (const name of await readdir(from)) {
    if (name !== '@portcullis') await symlink(join(from, name), join(to, name))
  }
  for (const name of await readdir(join(folder, 'packages'))) {
    await symlink(join(folder, 'packages', name), join(to, '@portcullis', name))
  }
}
