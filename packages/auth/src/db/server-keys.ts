import { randomBytes } from 'node:crypto'
import type { Queries } from './database.ts'
import { statement } from './statement.ts'

const keepKey = statement(
  'keep_server_key',
  `with kept as (
     insert into {ns}.server_keys (name, value) values ($1, $2) on conflict (name) do nothing
     returning value
   )
   select value from kept union all select value from {ns}.server_keys where name = $1 limit 1`,
)

/** The key of that name, made by whoever asks first. */
export async function loadServerKey(db: Queries, name: string): Promise<Buffer> {
  for (let tries = 0; tries < 3; tries += 1) {
    const [row] = await db.run<{ value: Buffer }>(keepKey, [name, randomBytes(32)])
    if (row !== undefined) return row.value
    // Another process made it while our statement could not see it yet.
  }
  throw new Error(`The server key ${name} can be neither made nor read`)
}
