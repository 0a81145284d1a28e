/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeFolder } from '../support/embedded-place.ts'
import { openFlowServer } from '../support/flow-server.ts'
import { openSource, sourceEnvironment } from '../support/supabase-source/open-source.ts'
import { runReport } from '../support/supabase-source/run-report.ts'

/** Warnings without their times. The other lines show progress, of which a slow run has more. */
const toWarnings = (stderr: string) =>
  stderr
    .split('\n')
    .filter((line) => line.includes('level=warning'))
    .map((line) => line.replace(/^time="[^"]*"/, ''))

const idOf = (at: number) => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`

test('a dry run of an import reports what the import then does', async (t) => {
  const server = await openFlowServer(t, sourceEnvironment)
  if (!server) return
  const source = await openSource(t, server.databaseUrl, '2.196')
  const { writer, client } = source
  const addUser = async (at: number, email: string) => {
    const id = idOf(at)
    await writer.user({ id, email, updated_at: new Date() })
    const times = { created_at: new Date(), updated_at: new Date() }
    await writer.insert('identities', {
      ...{ user_id: id, provider: 'email', provider_id: id, identity_data: { sub: id }, ...times },
    })
    await writer.insert('mfa_factors', {
      ...{ id: randomUUID(), user_id: id, factor_type: 'totp', status: 'verified', ...times },
      secret: 'JBSWY3DPEHPK3PXP',
    })
    const sessionId = await writer.session(id)
    await writer.storedTokens(id, sessionId, 1)
    return { id, sessionId }
  }
  /** With two rows per batch, batches depend on each other. */
  const compare = async (...args: readonly string[]) => {
    const all = ['import', '--from', source.url, '--batch-rows', '2', ...args]
    const dry = await runReport(server, ...all, '--dry-run')
    const real = await runReport(server, ...all)
    assert.deepEqual(dry.report.tables, real.report.tables)
    assert.deepEqual(toWarnings(dry.stderr), toWarnings(real.stderr))
    return real
  }
  for (let at = 10; at < 30; at += 1) await addUser(at, `user-${at}@source.example`)
  // Addresses that differ only in case, in different batches.
  await addUser(30, 'USER-10@source.example')
  const first = await compare()
  assert.equal(first.tableOf('users').added, 20)
  assert.equal(first.tableOf('users').skipped['email taken'].count, 1)

  // Removed with everything that belongs to it; the address is used again.
  await client.query('delete from users where id = $1', [idOf(11)])
  await addUser(1, 'user-11@source.example')
  // Changed here, and therefore kept.
  await client.query('delete from users where id = $1', [idOf(12)])
  await server.query('update users set updated_at = now() where id = $1', [idOf(12)])
  await addUser(2, 'user-12@source.example')
  // Deleted here and there, and deleted here only.
  await client.query('delete from users where id = $1', [idOf(13)])
  await server.query('delete from users where id = any($1)', [[idOf(13), idOf(14)]])
  // Renamed; the address is used again by a user who is read earlier.
  await client.query(
    `update users set email = 'renamed@source.example', updated_at = now() where id = $1`,
    [idOf(15)],
  )
  await addUser(3, 'user-15@source.example')
  // Ended in the source; one of the two was used here.
  await client.query('delete from sessions where user_id = any($1)', [[idOf(16), idOf(17)]])
  await server.query('update sessions set updated_at = now() where user_id = $1', [idOf(17)])
  await server.query('update users set updated_at = now() where id = $1', [idOf(18)])
  await client.query('update users set updated_at = now() where id = $1', [idOf(18)])
  const second = await compare()
  const { added, updated, removed, skipped } = second.tableOf('users')
  assert.deepEqual([added, updated, removed], [2, 1, 1])
  assert.deepEqual(Object.keys(skipped).sort(), ['changed here', 'deleted here', 'email taken'])
  assert.equal(second.tableOf('sessions').removed, 2)
  assert.match(second.stderr, /users: 1 row was deleted in the source but changed here/)

  // Rows without a source are claimed, and a second source skips them.
  await server.query('update imported_rows set source = null')
  await client.query('delete from users where id = $1', [idOf(20)])
  await compare()
  await client.query('delete from users where id = $1', [idOf(21)])
  assert.equal((await compare()).tableOf('users').removed, 1)

  const file = join(await makeFolder(t), 'users.jsonl')
  const records = [
    { id: idOf(22), email: 'user-22@source.example' },
    { email: 'new@source.example' },
    { id: idOf(40), email: 'NEW@source.example' },
  ]
  await writeFile(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''))
  const args = ['import', '--jsonl', file, '--batch-rows', '1']
  const dry = await runReport(server, ...args, '--dry-run')
  const real = await runReport(server, ...args)
  assert.deepEqual(dry.report.tables, real.report.tables)
  const report = real.tableOf('users')
  assert.deepEqual([report.added, report.skipped['other source'].count], [1, 1])
})
