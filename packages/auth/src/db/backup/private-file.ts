import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Writable } from 'node:stream'

/**
 * Writes a file that only its owner can read. An existing file is replaced when the new one is
 * complete, and stays as it is if writing fails.
 * @param write must consume the stream at once, for example with `pipeline`, so that it is closed.
 */
export async function writePrivateFile(
  path: string,
  write: (output: Writable) => Promise<void>,
): Promise<void> {
  const existing = await stat(path).catch(() => undefined)
  // Pipes and devices, such as /dev/stdout, cannot be replaced.
  if (existing !== undefined && !existing.isFile()) return await write(createWriteStream(path))
  const draft = `${path}.${randomUUID()}.part`
  try {
    await write(createWriteStream(draft, { flags: 'wx', mode: 0o600 }))
    await syncToDisk(draft)
    await rename(draft, path)
    await syncToDisk(dirname(path))
  } finally {
    await rm(draft, { force: true })
  }
}

async function syncToDisk(path: string): Promise<void> {
  await using handle = await open(path, 'r')
  await handle.sync()
}
