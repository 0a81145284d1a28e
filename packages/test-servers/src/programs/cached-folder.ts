import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

const cache = join(import.meta.dirname, '..', '..', '.cache')

/**
 * A folder below .cache, filled when it is not there yet: in a draft that is renamed when it is
 * complete, so that nobody sees half an install.
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
    // mkdtemp makes private folders, but the user that runs the server may be another one.
    await chmod(draft, 0o755)
    await rename(draft, folder)
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    // Another process was quicker; its folder is as good as ours.
    if (!existsSync(folder)) throw error
  }
  return folder
}
