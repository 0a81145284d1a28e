/**
 * @legs safety, endurance
 * @slow
 */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { enduranceOr } from '@portcullis/test-servers/endurance'
import { findOccupant, findProcess, readPostmasterFile } from '../../src/db/embedded/occupant.ts'
import {
  type Descendant,
  descendantsOf,
  endOf,
  kill,
  makeFolder,
  openEmbedded,
  query,
  startHolder,
  waitUntil,
} from '../support/embedded-place.ts'

/** How often each set of processes is killed, each time at a random moment. */
const killsPerSet = enduranceOr(40, 1)

const isShell = ({ command }: Descendant) => command.startsWith('/bin/sh')
const toPid = ({ pid }: Descendant) => pid

/** The processes that are killed together while the server is writing. */
const victimSets: Readonly<Record<string, (own: number, postmaster: number) => readonly number[]>> =
  {
    'the server': (own) => [own],
    'the server and PostgreSQL': (own, postmaster) => [own, postmaster],
    'PostgreSQL and the server': (own, postmaster) => [postmaster, own],
    'every process': (own) => [own, ...descendantsOf(own).map(toPid)],
    'every process except PostgreSQL': (own) => [
      own,
      ...descendantsOf(own).filter(isShell).map(toPid),
    ],
  }

test('no acknowledged write is lost', async (t) => {
  const folder = await makeFolder(t)
  const data = join(folder, 'data')
  const acknowledged = new Set<number>()
  const missing = async (url: string) => {
    const rows = await query(url, 'select id from kept')
    const ids = new Set(rows.map(({ id }) => id))
    return [...acknowledged].filter((id) => !ids.has(id))
  }

  for (const [victims, choose] of Object.entries(victimSets)) {
    await t.test(`when ${victims} is killed during writes`, async (t) => {
      for (let killed = 0; killed < killsPerSet; killed++) {
        const holder = startHolder(t, { folder }, { what: 'write' })
        const opened = await holder.opened
        assert.ok(opened.url, opened.error)
        await waitUntil('writes', () => holder.acknowledged.length > 20)
        await sleep(Math.random() * 200)
        const { pid: postmaster = 0 } = (await readPostmasterFile(data)) ?? {}
        kill(...choose(holder.pid, postmaster))
        await endOf(holder)
        for (const id of holder.acknowledged) acknowledged.add(id)

        const again = await openEmbedded(t, { folder })
        assert.deepEqual(await missing(again.url), [])
        assert.notEqual((await readPostmasterFile(data))?.pid, postmaster)
        assert.equal(findProcess(postmaster), undefined)
        await again[Symbol.asyncDispose]()
      }
    })
  }

  await t.test('when PostgreSQL is killed and the server starts a new one', async (t) => {
    const holder = startHolder(t, { folder }, { what: 'write' })
    await holder.opened
    for (let round = 0; round < 3; round++) {
      await waitUntil('writes', () => holder.acknowledged.length > 20)
      const { pid: postmaster = 0 } = (await readPostmasterFile(data)) ?? {}
      kill(postmaster)
      await waitUntil('another PostgreSQL', async () => {
        const { pid = postmaster } = (await readPostmasterFile(data)) ?? {}
        return pid !== postmaster
      })
      const before = holder.acknowledged.length
      await waitUntil('writes again', () => holder.acknowledged.length > before + 20)
    }
    // When one backend process is killed, PostgreSQL restarts all of them.
    const backend = descendantsOf(holder.pid).find(({ command }) => /\[local\]/.test(command))
    kill(backend?.pid ?? 0)
    const before = holder.acknowledged.length
    await waitUntil('writes again', () => holder.acknowledged.length > before + 20)
    // The parent shell is killed while PostgreSQL keeps running.
    const shell = descendantsOf(holder.pid).find(isShell)
    kill(shell?.pid ?? 0)
    await waitUntil('a new parent', () => /is running again/.test(holder.log.slice(7).join('')))

    holder.process.kill('SIGTERM')
    await endOf(holder)
    for (const id of holder.acknowledged) acknowledged.add(id)
    assert.equal(holder.process.exitCode, 0)
    assert.match(holder.log.join(''), /PostgreSQL ended unexpectedly \(.+\), restarting it/)
    assert.deepEqual(await findOccupant(data), { kind: 'none' })
    const again = await openEmbedded(t, { folder })
    assert.deepEqual(await missing(again.url), [])
    const kills = Object.keys(victimSets).length * killsPerSet
    assert.ok(acknowledged.size > 20 * kills + 100, `${acknowledged.size} writes`)
  })
})

test('PostgreSQL stops when its server is killed', async (t) => {
  const folder = await makeFolder(t)
  const data = join(folder, 'data')
  const holder = startHolder(t, { folder })
  await holder.opened
  const below = descendantsOf(holder.pid).map(toPid)
  assert.ok(below.length >= 3)
  kill(holder.pid)
  await waitUntil('all have ended', () => below.every((pid) => !findProcess(pid)))
  assert.equal(existsSync(join(data, 'postmaster.pid')), false, 'it was shut down cleanly')
})

test('an orphaned PostgreSQL is stopped by the next server', async (t) => {
  const folder = await makeFolder(t)
  const data = join(folder, 'data')
  const holder = startHolder(t, { folder })
  const { url = '' } = await holder.opened
  // Kill the watching shell first, so that it cannot stop PostgreSQL when the others end.
  const [parent, watcher] = descendantsOf(holder.pid).filter(isShell)
  kill(watcher?.pid ?? 0, holder.pid, parent?.pid ?? 0)
  await endOf(holder)
  const occupant = await findOccupant(data)
  assert.equal(occupant.kind, 'orphan')
  assert.deepEqual(await query(url, 'select 1 as alive'), [{ alive: 1 }])

  const again = await openEmbedded(t, { folder })
  assert.match(again.log.join(''), /Stopping an orphaned PostgreSQL, process \d+/)
  assert.equal('pid' in occupant && findProcess(occupant.pid), undefined)
  assert.equal(existsSync(new URL(url).searchParams.get('host') ?? ''), false)
  assert.deepEqual(await query(again.url, 'select 1 as alive'), [{ alive: 1 }])
})

test('a stop during crash recovery still ends PostgreSQL', async (t) => {
  const folder = await makeFolder(t)
  const holder = startHolder(t, { folder }, { what: 'write' })
  await holder.opened
  await waitUntil('writes', () => holder.acknowledged.length > 20)
  const backend = descendantsOf(holder.pid).find(({ command }) => /\[local\]/.test(command))
  kill(backend?.pid ?? 0)
  await sleep(30)
  holder.process.kill('SIGTERM')
  await endOf(holder)
  assert.deepEqual(await findOccupant(join(folder, 'data')), { kind: 'none' })
  const again = await openEmbedded(t, { folder })
  const [row] = await query(again.url, 'select count(*)::int as count from kept')
  assert.ok(Number(row?.count) >= holder.acknowledged.length)
})

test('a server killed while it initializes the database leaves no partial data', async (t) => {
  const folder = await makeFolder(t)
  const holder = startHolder(t, { folder })
  await waitUntil('a draft', async () => (await readdir(folder)).length > 0)
  await waitUntil('files in it', async () => {
    const [draft = ''] = await readdir(folder)
    return (await readdir(join(folder, draft)).catch(() => [])).length > 3
  })
  kill(holder.pid, ...descendantsOf(holder.pid).map(toPid))
  await endOf(holder)
  const again = await openEmbedded(t, { folder })
  assert.deepEqual(await query(again.url, 'select 1 as alive'), [{ alive: 1 }])
  assert.deepEqual(await readdir(folder), ['data'])
})
