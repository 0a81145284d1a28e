import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { toCode } from '@portcullis/service-kit/text/reason'
import type { MessageSummary } from './mailbox.ts'

/** The stored summary. Whether the message was read is given by the folder it is in. */
export type StoredSummary = Omit<MessageSummary, 'isRead'>

/**
 * Stores messages in a folder, one file each: a line with the summary, then the unchanged source.
 *
 * As in a Maildir, a file is written to `tmp`, moved to `new` when it is complete, and to `cur` when the
 * message has been read. Moves are atomic, so files in `new` and `cur` are complete even after a crash.
 */
export interface MessageStore {
  /** Resolves when the message is stored durably. */
  add(summary: StoredSummary, source: Buffer): Promise<void>
  readSource(id: string): Promise<Buffer | undefined>
  markRead(id: string): Promise<void>
  remove(id: string): Promise<void>
}

const places = ['tmp', 'new', 'cur'] as const
/** Summaries are shorter, because their fields are bounded. */
const maxSummaryBytes = 256 * 1024

/** Opens the folder and reads the stored messages, oldest first. */
export async function openMessageStore(
  folder: string,
): Promise<{ readonly store: MessageStore; readonly messages: readonly MessageSummary[] }> {
  const toPath = (place: (typeof places)[number], id: string) => join(folder, place, id)
  for (const place of places) mkdirSync(join(folder, place), { recursive: true, mode: 0o700 })
  // Incomplete files: their senders never got a confirmation.
  for (const name of readdirSync(join(folder, 'tmp'))) rmSync(toPath('tmp', name))

  const messages: MessageSummary[] = []
  const buffer = Buffer.alloc(maxSummaryBytes)
  for (const place of ['new', 'cur'] as const) {
    for (const entry of readdirSync(join(folder, place), { withFileTypes: true })) {
      // Links may lead to files of other users, and reading from a pipe would never end.
      if (!entry.isFile()) continue
      const id = entry.name
      const summary = await readSummary(toPath(place, id), buffer)
      // Other files are kept, but ignored.
      if (summary?.id === id) messages.push({ ...summary, isRead: place === 'cur' })
    }
  }
  messages.sort((a, b) => (a.id < b.id ? -1 : 1))

  const store: MessageStore = {
    async add(summary, source) {
      const line = Buffer.from(`${JSON.stringify(summary)}\n`)
      const path = toPath('tmp', summary.id)
      try {
        await writeFile(path, Buffer.concat([line, source]), {
          mode: 0o600,
          flag: 'wx',
          flush: true,
        })
        await rename(path, toPath('new', summary.id))
      } catch (error) {
        await rm(path, { force: true })
        throw error
      }
    },
    // In this order, because the file may be moved from `new` to `cur` between the two attempts.
    async readSource(id) {
      const content =
        (await readFile(toPath('new', id)).catch(ignoreMissing)) ??
        (await readFile(toPath('cur', id)).catch(ignoreMissing))
      return content?.subarray(content.indexOf('\n') + 1)
    },
    async markRead(id) {
      await rename(toPath('new', id), toPath('cur', id)).catch(ignoreMissing)
    },
    async remove(id) {
      await rm(toPath('new', id), { force: true })
      await rm(toPath('cur', id), { force: true })
    },
  }
  return { store, messages }
}

/** The user may have emptied the folder: a missing file is not an error. */
function ignoreMissing(error: unknown): undefined {
  if (toCode(error) !== 'ENOENT') throw error
}

async function readSummary(path: string, buffer: Buffer): Promise<StoredSummary | undefined> {
  await using file = await open(path)
  try {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0)
    const end = buffer.subarray(0, bytesRead).indexOf('\n')
    return JSON.parse(buffer.toString('utf8', 0, Math.max(end, 0)))
  } catch {
    return undefined
  }
}
