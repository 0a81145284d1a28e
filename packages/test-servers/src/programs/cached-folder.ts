import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

const cache = join(import.meta.dirname, '..', '..', '.cache')

/**
 * A folder below .cache that is filled if it does not exist yet. It is filled under a temporary
 * name and renamed when complete, so that other processes never see a partial install.
 */
export async function provideFolder(
  name: string,
  fill: (draft: string) => Promise<void>,
): Promise<string> {
  const folder = join(cache, name)
  if (existsSync(folder)) return folder
  await mkdir(cache, { recursive: true })
  const draft = await mkdtemp(join(cache, 'draft-'))
  try {
    await fill(draft)
    // mkdtemp creates private folders, but the server may run as another user.
    await chmod(draft, 0o755)
    await rename(draft, folder)
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    // Another process was faster; its folder is equivalent.
    if (!existsSync(folder)) throw error
  }
  return folder
}
