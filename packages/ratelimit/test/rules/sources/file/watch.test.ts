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
  const observed = { changes: 0 }
  const { log, lines } = collectLog()
  const opened = openWatch({
    entry: undefined,
    fingerprint: () => fingerprintEntries(settings.directory),
    onChange: () => {
      observed.changes += 1
    },
    debounceMs: 20,
    pollMs: 30,
    log,
    ...settings,
  })
  t.after(() => opened[Symbol.dispose]())
  return { observed, lines, opened }
}

/** The error of the system when the limit of watched folders is reached. */
function refuseToWatch(): never {
  throw Object.assign(new Error('ENOSPC: System limit for number of file watchers reached'), {
    code: 'ENOSPC',
  })
}

suite('a watch', () => {
  test('calls back once at the start, and then for each change', async (t) => {
    const directory = await makeDirectory(t)
    const { observed } = countChanges(t, { directory })
    await until(() => observed.changes === 1, 'it has begun')
    await writeFile(join(directory, 'a'), '1')
    await until(() => observed.changes >= 2, 'the change is reported')
  })

  test('polls if the folder cannot be watched, and logs that once', async (t) => {
    const directory = await makeDirectory(t)
    const { observed, lines } = countChanges(t, { directory, watchFiles: refuseToWatch })
    await until(() => observed.changes === 1, 'it has begun')
    for (let change = 2; change <= 4; change += 1) {
      await writeFile(join(directory, `file${change}`), 'x'.repeat(change))
      await until(() => observed.changes >= change, 'the change is found')
    }
    const warnings = lines.filter((line) => line.startsWith('warning'))
    assert.equal(warnings.length, 1)
    assert.match(warnings[0] ?? '', /Cannot watch .* every 30 ms: ENOSPC/)
  })

  test('polls occasionally even if events are expected', async (t) => {
    const directory = await makeDirectory(t)
    // A network file system: the watcher works, but changes by other machines cause no events.
    const deaf: WatchFiles = () => watch(import.meta.filename)
    const { observed } = countChanges(t, { directory, watchFiles: deaf })
    await until(() => observed.changes === 1, 'it has begun')
    await writeFile(join(directory, 'a'), '1')
    await until(() => observed.changes >= 2, 'the change is found')
  })

  test('falls back to polling when the watcher fails', async (t) => {
    const directory = await makeDirectory(t)
    const watchers: FSWatcher[] = []
    const breakable: WatchFiles = (...args) => {
      if (watchers.length > 0) refuseToWatch()
      const watcher = watch(...args)
      watchers.push(watcher)
      return watcher
    }
    const { observed } = countChanges(t, { directory, watchFiles: breakable })
    await until(() => observed.changes === 1, 'it has begun')
    watchers[0]?.emit('error', new Error('broken'))
    await writeFile(join(directory, 'a'), '1')
    await until(() => observed.changes >= 2, 'the change is found')
  })

  test('finds a folder that appears later', async (t) => {
    const directory = join(await makeDirectory(t), 'later')
    const { observed, lines } = countChanges(t, { directory })
    await until(() => observed.changes === 1, 'it has begun')
    await mkdir(directory)
    await until(() => observed.changes >= 2, 'the folder is found')
    await writeFile(join(directory, 'a'), '1')
    await until(() => observed.changes >= 3, 'its entries are watched')
    assert.deepEqual(lines, [])
  })

  test('does not wait forever while changes never stop', async (t) => {
    const directory = await makeDirectory(t)
    const { observed } = countChanges(t, { directory, debounceMs: 50, pollMs: 60_000 })
    await until(() => observed.changes === 1, 'it has begun')
    // The debounce time is never reached, because each write follows too soon.
    for (let write = 0; observed.changes < 3; write += 1) {
      await writeFile(join(directory, 'a'), String(write))
      assert.ok(write < 100_000, 'changes are not reported while more follow')
    }
  })

  test('does not call back after it is closed', async (t) => {
    const directory = await makeDirectory(t)
    const { observed, opened } = countChanges(t, { directory })
    await until(() => observed.changes === 1, 'it has begun')
    opened[Symbol.dispose]()
    await writeFile(join(directory, 'a'), '1')
    await letEventsPass()
    assert.equal(observed.changes, 1)
  })
})
