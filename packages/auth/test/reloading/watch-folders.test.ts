import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { watchFolders } from '../../src/reloading/watch-folders.ts'
import { until } from '../support/outbox.ts'

function openFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'watched-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Watches the files *.env of a folder, and waits for the first call. */
async function watch(t: TestContext, path: string, gracePeriodMs = 20) {
  let changes = 0
  const unsupported: string[] = []
  const watched = watchFolders({
    folders: [{ path, isRelevant: (name) => name.endsWith('.env') }],
    gracePeriodMs,
    onChange: () => {
      changes += 1
    },
    onUnsupported: (reason) => unsupported.push(reason),
  })
  t.after(() => watched[Symbol.dispose]())
  return {
    unsupported,
    count: () => changes,
    /** Waits for a call, and returns the number of calls since the last time. */
    async next(): Promise<number> {
      await until(() => changes > 0)
      const found = changes
      changes = 0
      return found
    },
  }
}

test('changes of files that were written, replaced or removed are reported', async (t) => {
  const folder = openFolder(t)
  const watched = await watch(t, folder)
  await watched.next()
  writeFileSync(join(folder, 'a.env'), 'A=1')
  await watched.next()
  writeFileSync(join(folder, 'new'), 'A=2')
  renameSync(join(folder, 'new'), join(folder, 'a.env'))
  await watched.next()
  rmSync(join(folder, 'a.env'))
  await watched.next()
})

test('other files in the folder are ignored', async (t) => {
  const folder = openFolder(t)
  const watched = await watch(t, folder)
  await watched.next()
  writeFileSync(join(folder, 'server.log'), 'a line')
  await sleep(200)
  assert.equal(watched.count(), 0)
})

test('the link that Kubernetes replaces counts as a change of all files', async (t) => {
  const folder = openFolder(t)
  for (const version of ['..1', '..2']) mkdirSync(join(folder, version))
  symlinkSync('..1', join(folder, '..data'))
  const watched = await watch(t, folder)
  await watched.next()
  symlinkSync('..2', join(folder, '..data_tmp'))
  renameSync(join(folder, '..data_tmp'), join(folder, '..data'))
  await watched.next()
})

test('a burst of changes is reported once', async (t) => {
  const folder = openFolder(t)
  const watched = await watch(t, folder, 400)
  await watched.next()
  for (let count = 0; count < 5; count += 1) {
    writeFileSync(join(folder, 'a.env'), `A=${count}`)
    await sleep(20)
  }
  assert.equal(watched.count(), 0, 'the grace period is not over')
  assert.equal(await watched.next(), 1)
})

test('a folder that is created later, or replaced, is watched', async (t) => {
  const folder = join(openFolder(t), 'later')
  const watched = await watch(t, folder)
  mkdirSync(folder)
  await watched.next()
  rmSync(folder, { recursive: true })
  await watched.next()
  mkdirSync(folder)
  await watched.next()
  writeFileSync(join(folder, 'a.env'), 'A=1')
  await watched.next()
  assert.deepEqual(watched.unsupported, [])
})

test('a file system that cannot be watched is reported once', (t) => {
  const reasons: string[] = []
  const watched = watchFolders({
    folders: [
      { path: '/one', isRelevant: () => true },
      { path: '/two', isRelevant: () => true },
    ],
    gracePeriodMs: 1,
    onChange: () => assert.fail('nothing was watched'),
    onUnsupported: (reason) => reasons.push(reason),
    watchFolder: (() => {
      throw Object.assign(new Error('no watches left'), { code: 'ENOSPC' })
    }) as never,
  })
  t.after(() => watched[Symbol.dispose]())
  assert.deepEqual(reasons, ['no watches left'])
})
