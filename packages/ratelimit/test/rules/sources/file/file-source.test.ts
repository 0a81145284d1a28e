import assert from 'node:assert/strict'
import { appendFile, chmod, mkdir, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { openFileSource } from '../../../../src/rules/sources/file/file-source.ts'
import { collectLog } from '../../../support/collected-log.ts'
import {
  letEventsPass,
  makeDirectory,
  openSource,
  replaceFile,
  toRuleFile,
  until,
} from '../../../support/file-source.ts'
import { KeyRecorder } from '../../../support/nested-rules.ts'

/** A root with one rule file. */
async function makeRoot(t: TestContext, requests = 1) {
  const root = await makeDirectory(t)
  const config = join(root, 'config')
  await mkdir(config)
  const file = join(config, 'basic.yaml')
  await writeFile(file, toRuleFile(requests))
  return { root, config, file }
}

suite('watching the files', () => {
  test('a write loads the new rules and is logged', async (t) => {
    const { root, file } = await makeRoot(t)
    const source = await openSource(t, { root, watchRoot: false })
    assert.equal(source.requests(), 1)
    await writeFile(file, toRuleFile(2))
    await until(() => source.requests() === 2, 'the new rules are in force')
    assert.equal(source.statistics.fileCount.value, 1)
    assert.ok(source.lines.includes('debug loading domain: d'))
    assert.ok(
      source.lines.includes(
        'debug loading descriptor: key=d.k ratelimit={requests_per_unit=2, unit=MINUTE, unlimited=false, shadow_mode=false, quota_mode=false}',
      ),
    )
    assert.ok(source.lines.includes('info Successfully loaded new configuration'))
  })

  test('a new file, a renamed one and a removed one are noticed', async (t) => {
    const { root, config } = await makeRoot(t)
    const source = await openSource(t, { root, watchRoot: false })
    const hasDomain = (domain: string) => source.snapshots.at(-1)?.hasDomain(domain) ?? false
    const other = join(config, 'other.yaml')
    await writeFile(other, toRuleFile(5, 'other'))
    await until(() => hasDomain('other'), 'the new file is loaded')
    await rename(other, join(config, 'other.txt'))
    await until(() => !hasDomain('other'), 'the renamed file is no longer a rule file')
    await rename(join(config, 'other.txt'), other)
    await until(() => hasDomain('other'), 'the file is back')
    await unlink(other)
    await until(() => !hasDomain('other'), 'the rules of the removed file are gone')
    assert.ok(hasDomain('d'))
  })

  test('a change of permissions reloads the rules', async (t) => {
    const { root, file } = await makeRoot(t)
    const source = await openSource(t, { root, watchRoot: false })
    await chmod(file, 0o600)
    await until(() => source.snapshots.length >= 2, 'the rules are loaded again')
    assert.equal(source.requests(), 1)
  })

  test('a file replaced by an atomic rename is noticed', async (t) => {
    const { root, config, file } = await makeRoot(t)
    const source = await openSource(t, { root, watchRoot: false })
    await writeFile(join(config, '.basic.tmp'), toRuleFile(3))
    await rename(join(config, '.basic.tmp'), file)
    await until(() => source.requests() === 3, 'the new file is loaded')
  })

  test('an invalid file keeps the old rules, and correcting it loads the new ones', async (t) => {
    const { root, file } = await makeRoot(t)
    const source = await openSource(t, { root, watchRoot: false })
    await replaceFile(file, 'domain: d\ndescriptors:\n  - kee: x\n')
    await until(() => source.failures.length >= 1, 'the load fails')
    assert.equal(source.requests(), 1)
    assert.equal(source.snapshots.length, 1)
    assert.equal(source.failures[0]?.faults[0]?.message, "config error, unknown key 'kee'")
    assert.ok(
      source.lines.some((line) =>
        line.startsWith(
          "error Error loading new configuration: basic.yaml: config error, unknown key 'kee'",
        ),
      ),
      source.lines.join('\n'),
    )
    await replaceFile(file, toRuleFile(4))
    await until(() => source.requests() === 4, 'the corrected file is loaded')
    // On a slow machine there may be two events for one change, so that the same file is loaded again.
    const { failures, snapshots, statistics } = source
    await until(
      () => statistics.loadAttempts.value === failures.length + snapshots.length,
      'every attempt has failed or succeeded',
    )
    assert.equal(source.requests(), 4)
    assert.equal(statistics.loadFailures.value, 0)
  })

  test('a partly written file is never used', async (t) => {
    const { root, file } = await makeRoot(t)
    const source = await openSource(t, { root, watchRoot: false })
    const text = toRuleFile(9)
    const half = text.indexOf('requests_per_unit')
    await writeFile(file, text.slice(0, half))
    await until(() => source.failures.length > 0, 'the partial file is refused')
    assert.equal(source.requests(), 1)
    await appendFile(file, text.slice(half))
    await until(() => source.requests() === 9, 'the complete file is loaded')
    assert.deepEqual(new Set(source.snapshots.map(({ ruleCount }) => ruleCount)), new Set([1]))
  })

  test('a burst of writes causes few loads, and the last write is loaded', async (t) => {
    const { root, file } = await makeRoot(t)
    const debounceMs = 200
    const source = await openSource(t, { root, watchRoot: false, debounceMs })
    const startedAtMs = performance.now()
    for (let requests = 2; requests <= 101; requests += 1) {
      await writeFile(file, toRuleFile(requests))
    }
    await until(() => source.requests() === 101, 'the last write is loaded')
    // On a busy machine, a pause between writes may end a burst.
    const most = 20 + (performance.now() - startedAtMs) / debounceMs
    assert.ok(
      source.statistics.loadAttempts.value <= most,
      `${source.statistics.loadAttempts.value}`,
    )
  })

  test('the folder may be deleted and created again', async (t) => {
    const { root, config, file } = await makeRoot(t)
    const source = await openSource(t, { root, watchRoot: false })
    for (const requests of [2, 3]) {
      const failures = source.failures.length
      await rm(config, { recursive: true })
      await until(() => source.failures.length > failures, 'the missing folder is noticed')
      assert.notEqual(source.requests(), undefined)
      await mkdir(config)
      await writeFile(file, toRuleFile(requests))
      await until(() => source.requests() === requests, 'the folder is back')
      await writeFile(file, toRuleFile(requests * 10))
      await until(() => source.requests() === requests * 10, 'the new folder is watched')
    }
  })

  test('the folder may be replaced', async (t) => {
    const { root, config } = await makeRoot(t)
    const source = await openSource(t, { root, watchRoot: false })
    const next = join(root, 'next')
    await mkdir(next)
    await writeFile(join(next, 'basic.yaml'), toRuleFile(7))
    await rename(config, join(root, 'old'))
    await rename(next, config)
    await until(() => source.requests() === 7, 'the other folder is loaded')
    await writeFile(join(root, 'old', 'basic.yaml'), toRuleFile(8))
    await writeFile(join(config, 'basic.yaml'), toRuleFile(70))
    await until(() => source.requests() === 70, 'the other folder is watched')
  })

  test('a folder that is missing at startup is loaded when it appears', async (t) => {
    const root = join(await makeDirectory(t), 'not', 'yet')
    const source = await openSource(t, { root, watchRoot: false })
    assert.equal(source.failures.length, 1)
    assert.equal(source.snapshots.length, 0)
    assert.equal(source.statistics.loadFailures.value, 1)
    const complaint = source.lines.find((line) => line.startsWith('error Error loading'))
    assert.match(
      complaint ?? '',
      /not\/yet\/config cannot be opened \(no such file.*RUNTIME_ROOT.*RUNTIME_APPDIRECTORY/,
    )
    await mkdir(join(root, 'config'), { recursive: true })
    await writeFile(join(root, 'config', 'a.yaml'), toRuleFile(6))
    await until(() => source.requests() === 6, 'the folder is found')
  })

  test('a folder without rule files is an empty configuration, with a warning', async (t) => {
    const { root, file } = await makeRoot(t)
    const source = await openSource(t, { root, watchRoot: false })
    await unlink(file)
    await until(() => source.snapshots.at(-1)?.domainCount === 0, 'there are no rules')
    assert.equal(source.failures.length, 0)
    assert.ok(source.lines.some((line) => /warning \S+ contains no \*\.yaml files/.test(line)))
  })

  test('files that are not read are logged once, however often rules are loaded', async (t) => {
    const { root, config, file } = await makeRoot(t)
    await writeFile(join(config, 'notes.txt'), 'no rules')
    const source = await openSource(t, { root, watchRoot: false })
    await writeFile(file, toRuleFile(2))
    await until(() => source.requests() === 2, 'the rules are loaded again')
    assert.equal(source.lines.filter((line) => line.includes('notes.txt')).length, 1)
  })

  test('an unreadable file is skipped, logged and counted', async (t) => {
    const { root, config } = await makeRoot(t)
    await symlink(join(root, 'nowhere'), join(config, 'broken.yaml'))
    const source = await openSource(t, { root, watchRoot: false })
    assert.equal(source.requests(), 1)
    assert.equal(source.statistics.loadFailures.value, 1)
    assert.ok(source.lines.some((line) => /^warning broken\.yaml is skipped/.test(line)))
  })

  test('a file that is not text is a fault, and its limits stay in force', async (t) => {
    const { root, file } = await makeRoot(t)
    const source = await openSource(t, { root, watchRoot: false })
    await writeFile(file, Buffer.from('domain: d\n# caf\xe9\n', 'latin1'))
    await until(() => source.failures.length > 0, 'the load failed')
    assert.equal(source.requests(), 1)
    assert.equal(source.snapshots.length, 1)
    assert.equal(source.statistics.loadFailures.value, 0)
    const message = 'basic.yaml: error loading config file: the file is not UTF-8 text'
    assert.ok(
      source.lines.includes(`error Error loading new configuration: ${message} (line 2, column 1)`),
    )
    assert.ok(!source.lines.some((line) => line.includes('contains no *.yaml files')))
  })

  test('files of one domain are merged only if that is enabled', async (t) => {
    const { root, config } = await makeRoot(t)
    await writeFile(join(config, 'more.yaml'), 'domain: d\ndescriptors: [{ key: more }]\n')
    const refused = await openSource(t, { root, watchRoot: false })
    assert.match(refused.failures[0]?.message ?? '', /more\.yaml: duplicate domain 'd'/)
    const merged = await openSource(t, { root, watchRoot: false, mergeDomains: true })
    assert.equal(merged.snapshots[0]?.ruleCount, 2)
  })

  test('RUNTIME_SUBDIRECTORY and RUNTIME_APPDIRECTORY lead to the files', async (t) => {
    const root = await makeDirectory(t)
    await mkdir(join(root, 'sub', 'deep', 'app'), { recursive: true })
    await writeFile(join(root, 'sub', 'deep', 'app', 'a.yaml'), toRuleFile(8))
    const place = { root, subdirectory: 'sub', appDirectory: 'deep/app' }
    const source = await openSource(t, { ...place, watchRoot: false })
    assert.equal(source.requests(), 8)
  })

  test('nothing is loaded after it is closed', async (t) => {
    const { root, file } = await makeRoot(t)
    const source = await openSource(t, { root, watchRoot: false })
    await writeFile(file, toRuleFile(2))
    await source.close()
    await writeFile(file, toRuleFile(3))
    await letEventsPass()
    assert.equal(source.requests(), 1)
    await source.close()
  })

  test('closed immediately, it loads nothing and the first attempt still resolves', async (t) => {
    const { root } = await makeRoot(t)
    const { log } = collectLog()
    const zero = () => ({ value: 0 })
    const source = openFileSource({
      root,
      subdirectory: '',
      appDirectory: 'config',
      ignoreDotFiles: false,
      watchRoot: false,
      mergeDomains: false,
      log,
      counters: new KeyRecorder(),
      statistics: { loadAttempts: zero(), loadFailures: zero(), fileCount: zero() },
      onSnapshot: () => assert.fail('rules were loaded after closing'),
      onFailure: () => assert.fail('a failure was reported after closing'),
    })
    await source[Symbol.asyncDispose]()
    await source.firstAttempt
    await letEventsPass()
  })
})
