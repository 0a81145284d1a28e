import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { MessageSummary } from './mailbox.ts'

/** What is written down about a message: whether it was read, its place says. */
export type StoredSummary = Omit<MessageSummary, 'isRead'>

/**
 * Keeps messages in a folder, a file for each: a line about it, then its source as it came.
 *
 * As in a Maildir, a file is written in `tmp`, moved to `new` when it is complete, and to `cur` when somebody
 * has read the message. Moves are atomic: whenever the process ends, what is in `new` and `cur` is whole.
 */
export interface MessageStore {
  /** Resolves when the message is safe. */
  add(summary: StoredSummary, source: Buffer): Promise<void>
  readSource(id: string): Promise<Buffer | undefined>
  markRead(id: string): Promise<void>
  remove(id: string): Promise<void>
}

const places = ['tmp', 'new', 'cur'] as const
/** A summary is shorter: what it takes from a message is bounded. */
const maxSummaryBytes = 256 * 1024

/** Opens the folder and reads what it has, the oldest first. */
export async function openMessageStore(
  folder: string,
): Promise<{ readonly store: MessageStore; readonly messages: readonly MessageSummary[] }> {
  const toPath = (place: (typeof places)[number], id: string) => join(folder, place, id)
  for (const place of places) mkdirSync(join(folder, place), { recursive: true, mode: 0o700 })
  // Whoever sent them was never told that they had arrived.
  for (const name of readdirSync(join(folder, 'tmp'))) rmSync(toPath('tmp', name))

  const messages: MessageSummary[] = []
  const buffer = Buffer.alloc(maxSummaryBytes)
  for (const place of ['new', 'cur'] as const) {
    for (const entry of readdirSync(join(folder, place), { withFileTypes: true })) {
      // A link could lead to a file of somebody else, and a pipe would never end.
      if (!entry.isFile()) continue
      const id = entry.name
      const summary = await readSummary(toPath(place, id), buffer)
      // Not one of ours: it stays, and does not keep us from the others.
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
    // In this order: while we look, it may move from the first place to the second.
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

/** Somebody has emptied the folder behind our back: the message is gone, and nothing else is wrong. */
function ignoreMissing(error: unknown): undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
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
