/**
 * @legs safety
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { open, type PostgresServer } from '@portcullis/test-servers'
import { Client } from 'pg'
import { openDatabase } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate/migrate.ts'
import { statement } from '../../src/db/statement.ts'
import { openAuthServer } from '../support/auth-server.ts'
import { newEmail, password, send } from '../support/http-client.ts'
import { testPostgres } from '../support/shared-postgres.ts'

const megabytes = 24

/**
 * Mounts a small disk for the tables of a schema. Returns undefined where mounting is not
 * permitted.
 */
function mountDisk(t: TestContext, postgres: PostgresServer): string | undefined {
  const folder = mkdtempSync('/tmp/portcullis-disk-')
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], {
      stdio: 'ignore',
    })
  } catch {
    rmSync(folder, { recursive: true })
    t.skip('only root may mount the small disk that this test fills')
    return undefined
  }
  t.after(() => {
    execFileSync('umount', ['-l', folder])
    rmSync(folder, { recursive: true })
  })
  chmodSync(folder, 0o755)
  const space = join(folder, 'space')
  mkdirSync(space)
  const { uid, gid } = statSync(join(postgres.folder, 'data'))
  chownSync(space, uid, gid)
  return folder
}

test('a full disk is reported as such, and reads still work', async (t) => {
  const postgres = await open(t, testPostgres)
  if (!postgres) return
  const folder = mountDisk(t, postgres)
  if (folder === undefined) return
  const { url } = postgres
  const admin = new Client({ connectionString: url })
  admin.on('error', () => {})
  await admin.connect()
  t.after(() => admin.end())
  await admin.query(`create tablespace small location '${join(folder, 'space')}'`)
  await admin.query(`alter database postgres set default_tablespace = 'small'`)
  const schema = 'auth'
  await migrate({ url, schema })
  const server = await openAuthServer(t, { database: { url, schema } })
  assert.ok(server)
  const signUp = () => send(server.url, '/signup', { body: { email: newEmail(), password } })
  const { body } = await signUp()

  const fill = join(folder, 'fill')
  try {
    writeFileSync(fill, Buffer.alloc(megabytes * 1024 * 1024))
  } catch {
    // The write fails when the disk is full.
  }
  let failed = await signUp()
  // Partly filled pages still have room.
  while (failed.status === 200) failed = await signUp()
  assert.deepEqual([failed.status, failed.body.error_code], [503, 'database_unavailable'])
  assert.equal(failed.headers.get('retry-after'), '30')
  assert.doesNotMatch(failed.body.msg, /reached/)
  const id = failed.headers.get('x-request-id')
  assert.ok(
    server.log.some(
      (line) => line.includes(`${id}`) && /disk of PostgreSQL is full \(53100\)/.test(line),
    ),
    server.log.join(''),
  )
  assert.equal((await send(server.url, '/user', { token: body.access_token })).status, 200)

  rmSync(fill)
  assert.equal((await signUp()).status, 200)
})

test('exhausted PostgreSQL resources are reported by name', async (t) => {
  const postgres = await open(t, testPostgres, { settings: { work_mem: '64kB' } })
  if (!postgres) return
  const url = `${postgres.url}?options=${encodeURIComponent('-c temp_file_limit=64')}`
  const log = { warning: () => {} }
  const db = openDatabase({ url, schema: 'auth', maxPoolSize: 1, idleTimeoutMs: 10_000, log })
  t.after(() => db[Symbol.asyncDispose]())
  const sort = statement('test_sort', 'select n from generate_series(1, 200000) n order by -n')
  await assert.rejects(db.run(sort), {
    name: 'DatabaseLostError',
    code: '53400',
    loss: 'failing',
    message: /^PostgreSQL cannot continue \(53400\): /,
  })
})
