// Opens the embedded PostgreSQL in a folder, reports it and keeps running, so that a test can kill
// it. With "write" it also inserts rows concurrently, about a thousand per second, and reports each
// acknowledged row.

import { setTimeout as sleep } from 'node:timers/promises'
import { createLog } from '@portcullis/service-kit/log/log'
import { toMessage } from '@portcullis/service-kit/text/reason'
import { Pool } from 'pg'
import {
  type EmbeddedPostgresSettings,
  openEmbeddedPostgres,
} from '../../src/db/embedded/open-embedded-postgres.ts'

const [, , what, json = '{}'] = process.argv
const settings: Omit<EmbeddedPostgresSettings, 'log'> = JSON.parse(json)
const print = (message: object) => process.stdout.write(`${JSON.stringify(message)}\n`)
const log = createLog({
  level: 'info',
  format: 'text',
  write: (line) => print({ log: line }),
})

async function write(pool: Pool): Promise<void> {
  for (;;) {
    try {
      const { rows } = await pool.query('insert into kept default values returning id')
      print({ acknowledged: rows[0]?.id })
      await sleep(2)
    } catch {
      // The row was not acknowledged. The next attempt may find a new server; until then, each one starts a
      // process of PostgreSQL.
      await sleep(50)
    }
  }
}

try {
  const postgres = await openEmbeddedPostgres({ ...settings, log })
  const { url } = postgres
  if (what === 'write') {
    const pool = new Pool({ connectionString: url, max: 4 })
    pool.on('error', () => {})
    await pool.query('create table if not exists kept (id serial primary key)')
    for (let writer = 0; writer < 4; writer++) void write(pool)
  }
  print({ url })
  process.once('SIGTERM', async () => {
    await postgres[Symbol.asyncDispose]()
    print({ isStopped: true })
    process.exit(0)
  })
  setInterval(() => {}, 1000)
} catch (error) {
  print({ error: toMessage(error) })
}
