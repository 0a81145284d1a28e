/**
 * @legs safety
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { chown, cp, lstat, mkdir, readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Account, chooseAccount } from '../../src/db/embedded/account.ts'
import { findPackage } from '../../src/db/embedded/binaries.ts'
import { findRunningServer } from '../../src/db/embedded/open-embedded-postgres.ts'
import {
  endOf,
  makeFolder,
  openEmbedded,
  query,
  startHolder,
  waitUntil,
} from '../support/embedded-place.ts'

const isRoot = process.getuid?.() === 0

/** The account that PostgreSQL runs as under root; skips the test otherwise. */
async function accountOf(t: TestContext): Promise<Account | undefined> {
  const account = await chooseAccount('/nowhere')
  if (!account) t.skip('needs root')
  return account
}

/** Copies the package without its symbolic links, as npm unpacks it before install scripts run. */
async function copyPackage(folder: string): Promise<string> {
  const packageFolder = join(folder, 'package')
  await cp(findPackage(), packageFolder, {
    recursive: true,
    filter: async (path) => !(await lstat(path)).isSymbolicLink(),
  })
  return packageFolder
}

test('of several servers that start on one empty folder, one wins and the others name its process', async (t) => {
  const folder = await makeFolder(t)
  const holders = [1, 2, 3].map(() => startHolder(t, { folder }))
  const opened = await Promise.all(holders.map((holder) => holder.opened))
  const winners = holders.filter((_, index) => opened[index]?.url !== undefined)
  assert.equal(winners.length, 1, JSON.stringify(opened))
  for (const { url, error } of opened) {
    if (url === undefined) assert.match(error ?? '', new RegExp(`process ${winners[0]?.pid}\\.`))
    else assert.deepEqual(await query(url, 'select 1 as alive'), [{ alive: 1 }])
  }
  assert.deepEqual(await readdir(folder), ['data'])
})

test('a package that only root can read is copied once for all servers', async (t) => {
  const secret = await makeFolder(t, 0o700)
  const packageFolder = await copyPackage(secret)
  const open = await makeFolder(t)
  const cacheFolders = [join(packageFolder, 'package.json'), join(open, 'cache')]
  const settings = { packageFolder, cacheFolders }
  const holders = ['a', 'b', 'c'].map((name) =>
    startHolder(t, { folder: join(open, name), ...settings }),
  )
  const lines: string[] = []
  for (const { opened, log } of holders) {
    const { url, error } = await opened
    assert.ok(url, error)
    await query(url, 'create extension pg_trgm')
    lines.push(...log)
  }
  // A server that starts after the copy is complete uses it.
  assert.match(lines.join(''), /Copying PostgreSQL to .+cache/)
  const { version } = JSON.parse(
    execFileSync('cat', [join(packageFolder, 'package.json')], { encoding: 'utf8' }),
  )
  const name = `postgres-${basename(findPackage())}-${version}`
  assert.deepEqual(await readdir(join(open, 'cache')), [name])

  const again = await openEmbedded(t, { folder: join(open, 'd'), ...settings })
  assert.doesNotMatch(again.log.join(''), /Copying/)
})

test('programs are not run from a folder that others can write to', async (t) => {
  const packageFolder = join(await makeFolder(t, 0o700), 'package')
  await mkdir(join(packageFolder, 'native'), { recursive: true })
  await cp(join(findPackage(), 'package.json'), join(packageFolder, 'package.json'))
  const cache = await makeFolder(t, 0o777)
  await assert.rejects(
    openEmbedded(t, { folder: await makeFolder(t), packageFolder, cacheFolders: [cache] }),
    {
      code: 'cannot_run',
      message: /no copy of them could be made:\n.+other users can write there/,
    },
  )
})

test('data can be stored below folders that only root can enter', async (t) => {
  if (!isRoot || process.platform !== 'linux') return t.skip('needs root on Linux')
  const folder = join(await makeFolder(t, 0o700), 'database')
  const first = await openEmbedded(t, { folder })
  await query(first.url, 'create table kept as select 1 as one')
  await assert.rejects(openEmbedded(t, { folder }), { code: 'in_use' })
  await first[Symbol.asyncDispose]()
  const second = await openEmbedded(t, { folder })
  assert.deepEqual(await query(second.url, 'select one from kept'), [{ one: 1 }])
})

/**
 * Whether another user can read this checkout; it may be in a home directory that only root can
 * enter.
 */
function canRunCheckoutAs({ uid, gid }: { readonly uid: number; readonly gid: number }): boolean {
  const read = ['-e', 'require("fs").accessSync(process.argv[1])', import.meta.filename]
  return spawnSync(process.execPath, read, { cwd: '/', uid, gid, stdio: 'ignore' }).status === 0
}

test('root runs PostgreSQL as the owner of the folder, and only root can connect', async (t) => {
  const account = await accountOf(t)
  if (!account) return
  const folder = await makeFolder(t)
  const { url, log } = await openEmbedded(t, { folder })
  const { uid, mode } = await stat(join(folder, 'data'))
  assert.deepEqual({ uid, mode: mode & 0o777 }, { uid: account.uid, mode: 0o700 })
  assert.equal((await stat(folder)).uid, 0)
  assert.match(log.join(''), new RegExp(`as the user \\\\"${account.name}\\\\"`))

  const connect = `
    import { Client } from ${JSON.stringify(import.meta.resolve('pg'))}
    const client = new Client({ connectionString: ${JSON.stringify(url)} })
    await client.connect().then(() => client.end(), (error) => { console.log(error.message) })
  `
  const tryAs = (who: { uid: number; gid: number }) =>
    spawnSync(process.execPath, ['--input-type=module', '-e', connect], {
      ...{ cwd: '/', encoding: 'utf8', ...who },
    }).stdout
  assert.equal(tryAs({ uid: 0, gid: 0 }), '')
  if (!canRunCheckoutAs(account)) return t.skip('the checkout can only be read by root')
  assert.match(tryAs(account), /Peer authentication failed/)
  assert.match(tryAs({ uid: 54_321, gid: 54_321 }), /EACCES/)
})

test('a restored folder that belongs to root is given to the PostgreSQL user', async (t) => {
  if (!(await accountOf(t))) return
  const folder = await makeFolder(t)
  const first = await openEmbedded(t, { folder })
  await query(first.url, 'create table kept as select 1 as one')
  await first[Symbol.asyncDispose]()
  execFileSync('chown', ['-R', '0:0', folder])
  execFileSync('chmod', ['755', join(folder, 'data')])
  const second = await openEmbedded(t, { folder })
  assert.match(second.log.join(''), /Changing the owner of .+data to the user/)
  assert.deepEqual(await query(second.url, 'select one from kept'), [{ one: 1 }])
})

test('a user other than root runs PostgreSQL as that user, and only on their own data', async (t) => {
  const account = await accountOf(t)
  if (!account) return
  const { uid, gid } = account
  if (!canRunCheckoutAs(account)) return t.skip('the checkout can only be read by root')
  const folder = await makeFolder(t)
  await chown(folder, uid, gid)
  const holder = startHolder(t, { folder }, { uid, gid })
  const opened = await holder.opened
  assert.ok(opened.url, opened.error)
  assert.doesNotMatch(holder.log.join(''), /as the user/)
  // Root may enter the socket folder, but peer authentication refuses it.
  await assert.rejects(query(opened.url, 'select 1'), /Peer authentication failed/)
  await assert.rejects(findRunningServer(folder), {
    code: 'in_use',
    message: /in use by a server of another user.+Run this command as that user/,
  })

  const foreign = await makeFolder(t)
  await (await openEmbedded(t, { folder: foreign }))[Symbol.asyncDispose]()
  const other = { uid: 65_534, gid: 65_534 }
  const { error = '' } = await startHolder(t, { folder: foreign }, other).opened
  assert.match(error, /no readable PG_VERSION|belongs to the user with id/)
})

/** Containers use such ids, which are not in /etc/passwd. */
const nameless = { uid: 54_321, gid: 0 }

test('a user id without a name can create a database and open it again', async (t) => {
  if (!isRoot || process.platform !== 'linux') return t.skip('needs root on Linux')
  if (!canRunCheckoutAs(nameless)) return t.skip('the checkout can only be read by root')
  const parent = await makeFolder(t)
  await chown(parent, nameless.uid, nameless.gid)
  const folder = join(parent, 'database')
  for (const isFirst of [true, false]) {
    const holder = startHolder(t, { folder }, { ...nameless, what: 'write' })
    const { url = '', error } = await holder.opened
    assert.notEqual(url, '', error)
    await waitUntil('it has written', () => holder.acknowledged.length > 5)
    assert.equal(holder.acknowledged[0] === 1, isFirst)
    // Other users cannot reach the socket; root could read the files anyway.
    const { uid, mode } = await stat(new URL(url).searchParams.get('host') ?? '')
    assert.deepEqual({ uid, mode: mode & 0o777 }, { uid: nameless.uid, mode: 0o700 })
    holder.process.kill('SIGTERM')
    await endOf(holder)
  }
  assert.equal((await stat(join(folder, 'data'))).uid, nameless.uid)
})

test('root runs PostgreSQL as the owner of the folder even if the owner has no name', async (t) => {
  if (!isRoot || process.platform !== 'linux') return t.skip('needs root on Linux')
  const folder = await makeFolder(t)
  await chown(folder, nameless.uid, nameless.gid)
  const { url } = await openEmbedded(t, { folder })
  await query(url, 'create table kept as select 1 as one')
  assert.equal((await stat(join(folder, 'data'))).uid, nameless.uid)
})

test('root gets an error if there is no account to run PostgreSQL as', async (t) => {
  if (!(await accountOf(t))) return
  await assert.rejects(chooseAccount('/nowhere', '/dev/null'), {
    code: 'no_account',
    message: /cannot run as root.+Start this server as another user/,
  })
})
