import { pipeline } from 'node:stream/promises'
import { writePrivateFile } from '../db/backup/private-file.ts'
import { openClient } from '../db/connection/open-client.ts'
import { nilId } from '../db/nil-id.ts'
import { withSchema } from '../db/statement.ts'
import { beginSnapshot, commit } from '../db/transaction.ts'
import type { HashBox } from '../tokens/hash-box.ts'
import { selectUserRecords, timesInUtc } from './statements/batches.ts'

export interface WriteJsonlSettings {
  readonly url: string
  readonly schema: string
  readonly file: string
  /** Decrypts password hashes. */
  readonly hashes: HashBox
}

interface RecordRow {
  readonly id: string
  readonly record: string
  /** The password hash if it is encrypted, in which case the record does not contain it. */
  readonly encrypted: string | null
}

/**
 * Writes one JSON object per line for each user who has an address and was not deleted. All users are
 * read from one snapshot.
 * @returns the number of users.
 */
export async function writeJsonl({
  url,
  schema,
  file,
  hashes,
}: WriteJsonlSettings): Promise<number> {
  const client = await openClient(url, 'portcullis-auth export')
  let count = 0
  const text = withSchema(selectUserRecords, schema)
  async function* lines(): AsyncGenerator<string> {
    let after = nilId
    for (;;) {
      const { rows } = await client.query<RecordRow>(text, [after])
      const last = rows.at(-1)
      if (last === undefined) return
      count += rows.length
      after = last.id
      yield `${rows.map((row) => toLine(row, hashes)).join('\n')}\n`
    }
  }
  try {
    await client.query(beginSnapshot)
    await client.query(timesInUtc)
    // Private, because it contains password hashes.
    await writePrivateFile(file, async (output) => {
      await pipeline(lines, output)
      await client.query(commit)
    })
    return count
  } finally {
    await client.end()
  }
}

/** The record is not parsed, because that would round large numbers in the metadata. */
function toLine({ id, record, encrypted }: RecordRow, hashes: HashBox): string {
  if (encrypted === null) return record
  const hash = JSON.stringify(hashes.open(encrypted, id))
  return `{"password_hash" : ${hash}, ${record.slice(1)}`
}
