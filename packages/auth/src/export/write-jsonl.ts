import { pipeline } from 'node:stream/promises'
import { writePrivateFile } from '../db/backup/private-file.ts'
import { openClient } from '../db/connection/open-client.ts'
import { nilId } from '../db/nil-id.ts'
import { withSchema } from '../db/statement.ts'
import { beginSnapshot, commit } from '../db/transaction.ts'
import { selectUserRecords, timesInUtc } from './statements/batches.ts'

export interface WriteJsonlSettings {
  readonly url: string
  readonly schema: string
  readonly file: string
}

/**
 * Writes one JSON object per line for each user who has an address and was not deleted. All users are
 * read from one snapshot.
 * @returns the number of users.
 */
export async function writeJsonl({ url, schema, file }: WriteJsonlSettings): Promise<number> {
  const client = await openClient(url, 'portcullis-auth export')
  let count = 0
  const text = withSchema(selectUserRecords, schema)
  async function* lines(): AsyncGenerator<string> {
    let after = nilId
    for (;;) {
      const { rows } = await client.query<{ id: string; record: string }>(text, [after])
      const last = rows.at(-1)
      if (last === undefined) return
      count += rows.length
      after = last.id
      yield `${rows.map(({ record }) => record).join('\n')}\n`
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
