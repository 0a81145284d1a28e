import type { Database } from '../../db/database.ts'
import { nilId } from '../../db/nil-id.ts'
import type { HashBox } from '../../tokens/hash-box.ts'
import { listPasswordHashes, replacePasswordHashes } from '../../tokens/statements.ts'

const batchUsers = 500

/** Returns what is stored for a user instead of the hash that is stored now. */
type ToStored = (stored: string, userId: string) => string

/** As configured: encrypted with the current key, or unencrypted. */
export const asConfigured =
  (hashes: HashBox): ToStored =>
  (stored, userId) =>
    hashes.encrypts && hashes.isCurrent(stored)
      ? stored
      : hashes.seal(hashes.open(stored, userId), userId)

/**
 * Replaces the password hashes of all users, and those that wait for the confirmation of an address.
 * Servers may be running: a hash that changes in the meantime is kept.
 * @returns the number of users whose hash was replaced.
 */
export async function replaceHashes(db: Database, toStored: ToStored): Promise<number> {
  let count = 0
  for (let after = nilId; ; ) {
    const rows = await db.run(listPasswordHashes, { after, limit: batchUsers })
    const changes = rows.flatMap(({ id, hash: before }) => {
      const stored = before === null ? null : toStored(before, id)
      return stored === before ? [] : [{ id, before, stored }]
    })
    if (changes.length > 0) {
      const replaced = await db.run(replacePasswordHashes, {
        ids: changes.map(({ id }) => id),
        stored: changes.map(({ stored }) => stored),
        before: changes.map(({ before }) => before),
      })
      count += replaced.length
    }
    const last = rows.at(-1)
    if (last === undefined) return count
    after = last.id
  }
}
