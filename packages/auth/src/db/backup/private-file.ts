import { randomUUID } from 'node:crypto'
import { createWriteStream, type Stats } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Writable } from 'node:stream'
import { toCode, toReason } from '@portcullis/service-kit/text/reason'

/**
 * Writes a file that only its owner can read. An existing file is replaced when the new one is
 * complete, and stays as it is if writing fails.
 * @param write must consume the stream at once, for example with `pipeline`, so that it is closed.
 * @throws {Error} if the folder does not exist, or the file cannot be written.
 */
export async function writePrivateFile(
  path: string,
  write: (output: Writable) => Promise<void>,
): Promise<void> {
  const folder = dirname(path)
  const existing = await findFile(path)
  if (existing === undefined && (await findFile(folder)) === undefined) {
    throw new Error(`The folder ${folder} does not exist; create it first.`)
  }
  // Pipes and devices, such as /dev/stdout, cannot be replaced.
  if (existing !== undefined && !existing.isFile()) return await write(createWriteStream(path))
  const draft = `${path}.${randomUUID()}.part`
  try {
    await write(createWriteStream(draft, { flags: 'wx', mode: 0o600 }))
    await syncToDisk(draft)
    await rename(draft, path)
    await syncToDisk(folder)
  } catch (error) {
    // The name of the draft would confuse the operator.
    if (Object(error).path !== draft) throw error
    throw new Error(`${path} cannot be written: ${toReason(error)}`, { cause: error })
  } finally {
    await rm(draft, { force: true })
  }
}

async function findFile(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path)
  } catch (error) {
    if (toCode(error) === 'ENOENT') return undefined
    throw error
  }
}

async function syncToDisk(path: string): Promise<void> {
  await using handle = await open(path, 'r')
  await handle.sync()
}
