import assert from 'node:assert/strict'
import { type FSWatcher, watch } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { fingerprintEntries } from '../../../../src/rules/sources/file/rule-place.ts'
import {
  openWatch,
  type WatchFiles,
  type WatchOptions,
} from '../../../../src/rules/sources/file/watch.ts'
import { collectLog } from '../../../support/collected-log.ts'
import { letEventsPass, makeDirectory, until } from '../../../support/file-source.ts'

type Settings = Pick<WatchOptions, 'directory'> & Partial<WatchOptions>

function countChanges(t: TestContext, settings: Settings) {
  const told = { changes: 0 }
  const { log, lines } = collectLog()
  const opened = openWatch({
    entry: undefined,
    fingerprint: () => fingerprintEntries(settings.directory),
    onChange: () => {
      told.changes += 1
    },
    debounceMs: 20,
    pollMs: 30,
    log,
    ...settings,
  })
  t.after(() => opened[Symbol.dispose]())
  return { told, lines, opened }
}

/** What the system says when a user may not watch any more directories. */
function refuseToWatch(): never {
  throw Object.assign(new Error('ENOSPC: System limit for number of file watchers reached'), {
    code: 'ENOSPC',
  })
}

suite('a watch', () => {
  test('tells once at the start, and then of each change', async (t) => {
    const directory = await makeDirectory(t)
    const { told } = countChanges(t, { directory })
    await until(() => told.changes === 1, 'it has begun')
    await writeFile(join(directory, 'a'), '1')
    await until(() => told.changes >= 2, 'the change is told')
  })

  test('looks by itself where nothing can be watched, and says so once', async (t) => {
    const directory = await makeDirectory(t)
    const { told, lines } = countChanges(t, { directory, watchFiles: refuseToWatch })
    await until(() => told.changes === 1, 'it has begun')
    for (let change = 2; change <= 4; change += 1) {
      await writeFile(join(directory, `file${change}`), 'x'.repeat(change))
      await until(() => told.changes >= change, 'the change is found')
    }
    const warnings = lines.filter((line) => line.startsWith('warning'))
    assert.equal(warnings.length, 1)
    assert.match(warnings[0] ?? '', /Cannot watch .* every 30 ms: ENOSPC/)
  })

  test('looks now and then even where events are expected', async (t) => {
    const directory = await makeDirectory(t)
    // A network file system: the watcher is there, but the changes of others never reach it.
    const deaf: WatchFiles = () => watch(import.meta.filename)
    const { told } = countChanges(t, { directory, watchFiles: deaf })
    await until(() => told.changes === 1, 'it has begun')
    await writeFile(join(directory, 'a'), '1')
    await until(() => told.changes >= 2, 'the change is found')
  })

  test('goes on by looking when the watcher breaks', async (t) => {
    const directory = await makeDirectory(t)
    const watchers: FSWatcher[] = []
    const breakable: WatchFiles = (...args) => {
      if (watchers.length > 0) refuseToWatch()
      const watcher = watch(...args)
      watchers.push(watcher)
      return watcher
    }
    const { told } = countChanges(t, { directory, watchFiles: breakable })
    await until(() => told.changes === 1, 'it has begun')
    watchers[0]?.emit('error', new Error('broken'))
    await writeFile(join(directory, 'a'), '1')
    await until(() => told.changes >= 2, 'the change is found')
  })

  test('finds a directory that appears later', async (t) => {
    const directory = join(await makeDirectory(t), 'later')
    const { told, lines } = countChanges(t, { directory })
    await until(() => told.changes === 1, 'it has begun')
    await mkdir(directory)
    await until(() => told.changes >= 2, 'the directory is found')
    await writeFile(join(directory, 'a'), '1')
    await until(() => told.changes >= 3, 'its entries are watched')
    assert.deepEqual(lines, [])
  })

  test('does not wait for ever while changes never stop', async (t) => {
    const directory = await makeDirectory(t)
    const { told } = countChanges(t, { directory, debounceMs: 50, pollMs: 60_000 })
    await until(() => told.changes === 1, 'it has begun')
    // The quiet time never comes: each write is sooner than that after the one before.
    for (let write = 0; told.changes < 3; write += 1) {
      await writeFile(join(directory, 'a'), String(write))
      assert.ok(write < 100_000, 'changes are not told while more come')
    }
  })

  test('is silent after it is closed', async (t) => {
    const directory = await makeDirectory(t)
    const { told, opened } = countChanges(t, { directory })
    await until(() => told.changes === 1, 'it has begun')
    opened[Symbol.dispose]()
    await writeFile(join(directory, 'a'), '1')
    await letEventsPass()
    assert.equal(told.changes, 1)
  })
})
