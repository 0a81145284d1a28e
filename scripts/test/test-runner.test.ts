import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { suite, type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { groupFiles } from '../testing/group-files.ts'
import { legs } from '../testing/legs.ts'
import { selectFiles } from '../testing/select-files.ts'
import { readMisses, summarize } from '../testing/summary.ts'
import { findTestFiles, root } from '../testing/test-files.ts'
import { parseTestHeader } from '../testing/test-header.ts'

const modules = {
  runLeg: import.meta.resolve('../testing/run-leg.ts'),
  repeatFailed: import.meta.resolve('../testing/repeat-failed.ts'),
}

interface RunSettings {
  readonly hangLimitMs?: number
  /** Whether failed files run again, alone. */
  readonly repeats?: boolean
}

/** Runs test files with the quiet reporter, like a whole run. */
async function runFiles(
  t: TestContext,
  files: Record<string, string>,
  { hangLimitMs = 600_000, repeats = false }: RunSettings = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-runner-'))
  t.after(() => rm(folder, { recursive: true }))
  const paths = Object.entries(files).map(([name, text]) => ({ path: join(folder, name), text }))
  for (const { path, text } of paths) {
    await writeFile(path, `import test from 'node:test'\nimport assert from 'node:assert'\n${text}`)
  }
  const options = {
    files: paths.map(({ path }) => path),
    reporter: 'quiet',
    env: { PORTCULLIS_TEST_MISSES: join(folder, 'misses') },
    nodeArgs: [],
  }
  const script = `
    const { runLeg } = await import(${JSON.stringify(modules.runLeg)})
    const { repeatFailed } = await import(${JSON.stringify(modules.repeatFailed)})
    const leg = { title: 'x', node: () => process.execPath, nodeArgs: [], env: {}, hangLimitMs: ${hangLimitMs} }
    const options = { leg, ...${JSON.stringify(options)} }
    const first = await runLeg(options)
    const result = ${repeats} ? await repeatFailed(options, first) : first
    console.log('RESULT' + JSON.stringify(result))`
  // A nested test process would report to the outer one.
  const { NODE_TEST_CONTEXT, PORTCULLIS_TEST_SERVERS, ...env } = process.env
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { env })
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  const [output = '', result = '{}'] = stdout.split('RESULT')
  const { passed, failed, skipped, skipReasons, failures, flakyFiles } = JSON.parse(result)
  return { output, stderr, counts: { passed, failed, skipped }, skipReasons, failures, flakyFiles }
}

test('passing tests are counted and not printed', async (t) => {
  const { output, stderr, counts, skipReasons } = await runFiles(t, {
    'a.test.ts':
      "console.log('chatter')\ntest('fine', () => {})\ntest('later', { skip: 'needs root' })\n",
    'b.test.ts': "test('also fine', () => {})\ntest('some day', { todo: true })\n",
  })
  assert.deepEqual(counts, { passed: 2, failed: 0, skipped: 2 }, stderr)
  assert.deepEqual(skipReasons, { 'needs root': 1, 'no reason given': 1 })
  assert.equal(output.trim(), '')
})

test('a failure is printed with its location, names, reason and the output of the file', async (t) => {
  const { output, counts } = await runFiles(t, {
    'a.test.ts':
      "console.log('chatter')\n" +
      "test('outer', (t) => t.test('inner', () => assert.equal(1, 2)))\ntest('fine', () => {})\n",
  })
  assert.deepEqual(counts, { passed: 1, failed: 2, skipped: 0 })
  assert.match(output, /✖ .+a\.test\.ts:4 › outer › inner\n {4}AssertionError.+1 == 2/)
  assert.match(output, /a\.test\.ts printed:\n {4}chatter/)
  assert.equal(output.match(/✖/g)?.length, 1, 'the outer test is not reported')
  assert.doesNotMatch(output, /at .*\(node:internal.*[^{]$/m)
})

test('a file that crashes or cannot be loaded fails', async (t) => {
  const { output, counts } = await runFiles(t, {
    'a.test.ts': "test('fine', () => {})\nprocess.exit(3)\n",
    'b.test.ts': "import './nowhere.ts'\n",
  })
  assert.equal(counts.failed, 2)
  assert.match(output, /a\.test\.ts\n {4}The process ended with exit code 3\./)
  assert.match(output, /Cannot find module .+nowhere\.ts/)
})

/** Long enough for a process to load and run a test on a busy machine. */
const hangLimitMs = 10_000

suite('a run that hangs is ended', { concurrency: true }, () => {
  test('with the reason, when something keeps a process alive after its last test', async (t) => {
    const leaks =
      "import { createServer } from 'node:net'\n" +
      "test('leaks', () => void createServer().listen(0))\n"
    const { output, counts } = await runFiles(t, { 'a.test.ts': leaks }, { hangLimitMs })
    assert.deepEqual(counts, { passed: 1, failed: 1, skipped: 0 })
    assert.match(output, /no test in it has ended for 10 s\..+started: leaks\..+TCPServerWrap/)
  })

  test('with the name of the test that never ends; a slow file continues', async (t) => {
    const hangs = "test('hangs', () => new Promise(() => setInterval(() => {}, 1000)))\n"
    const slow =
      "import { setTimeout } from 'node:timers/promises'\n" +
      "for (const name of ['one', 'two', 'three']) test(name, () => setTimeout(4000))\n"
    const files = { 'a.test.ts': hangs, 'b.test.ts': slow }
    const { output, counts } = await runFiles(t, files, { hangLimitMs })
    assert.equal(counts.passed, 3)
    assert.ok(counts.failed > 0)
    assert.match(output, /This process was ended.+Last test started: hangs\./)
  })

  test('with the name of the file, when a test never yields', async (t) => {
    const blocks =
      "test('blocks', () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))\n"
    const { stderr, counts } = await runFiles(t, { 'a.test.ts': blocks }, { hangLimitMs })
    assert.ok(counts.failed > 0)
    assert.match(stderr, /Still running: .*a\.test\.ts/)
  })
})

test('a server that the header does not declare is refused', async (t) => {
  const open = import.meta.resolve('../../packages/test-servers/src/open.ts')
  const opens = `import { open } from '${open}'\ntest('opens', async (t) => { await open(t, 'redis') })\n`
  const { output, counts } = await runFiles(t, { 'a.test.ts': opens })
  assert.deepEqual(counts, { passed: 0, failed: 1, skipped: 0 })
  assert.match(output, /declare it in the file's header, "@servers redis"/)
})

/** Fails only in its first run, which it records in a file. */
const failsOnce =
  "import { existsSync, writeFileSync } from 'node:fs'\n" +
  "const note = import.meta.filename + '.note'\n" +
  "test('flaky', () => { if (!existsSync(note)) { writeFileSync(note, ''); assert.fail('once') } })\n"

test('a file that fails and then passes alone is reported as flaky, and the run fails', async (t) => {
  const { output, counts, failures, flakyFiles } = await runFiles(
    t,
    { 'a.test.ts': failsOnce, 'b.test.ts': "test('fine', () => {})\n" },
    { repeats: true },
  )
  assert.deepEqual(counts, { passed: 1, failed: 1, skipped: 0 })
  assert.match(output, /✖ .+a\.test\.ts:\d+ › flaky\n {4}AssertionError.+once/)
  assert.match(output, /Running again, alone: \S+a\.test\.ts\n/)
  assert.equal(failures.length, 1)
  assert.match(failures[0], /a\.test\.ts:\d+ › flaky: once$/)
  assert.equal(flakyFiles.length, 1)
  assert.match(flakyFiles[0], /a\.test\.ts$/)
})

test('a file that fails twice is broken, not flaky; many failing files are not repeated', async (t) => {
  const fails = "test('wrong', () => assert.fail('always'))\n"
  const twice = await runFiles(t, { 'a.test.ts': fails, 'b.test.ts': failsOnce }, { repeats: true })
  assert.deepEqual(twice.counts, { passed: 0, failed: 2, skipped: 0 })
  assert.equal(twice.output.match(/› wrong/g)?.length, 2)
  assert.deepEqual(twice.flakyFiles.length, 1)
  const names = ['a', 'b', 'c', 'd'].map((name) => `${name}.test.ts`)
  const many = await runFiles(t, Object.fromEntries(names.map((name) => [name, failsOnce])), {
    repeats: true,
  })
  assert.deepEqual(many.counts, { passed: 0, failed: 4, skipped: 0 })
  assert.equal(many.flakyFiles, undefined)
})

test('the summary shows the results of each leg, and ends with the sum', () => {
  const reports = [
    {
      title: 'main: Node 24',
      fileCount: 120,
      result: {
        passed: 10,
        failed: 0,
        skipped: 1,
        skipReasons: { 'needs root': 1 },
        failedFiles: [],
        failures: [],
        failedProcesses: [],
        seconds: 1.23,
      },
    },
    {
      title: 'old: Node 9',
      fileCount: 4,
      result: {
        passed: 5,
        failed: 2,
        skipped: 0,
        skipReasons: {},
        failedFiles: ['x', 'y'],
        failures: ['x:1 › adds: 3 is not 4', ...Array(20).fill('y:2 › waits: too long')],
        failedProcesses: ['p'],
        flakyFiles: ['y'],
        seconds: 10,
      },
    },
    { title: 'long: hours', fileCount: 2, result: undefined },
  ]
  assert.deepEqual(summarize(reports, ['redis-server (apt-get install redis-server)']), [
    '✔ main: Node 24  120 files  10 passed, 0 failed, 1 skipped  (1.2 s)',
    '✖ old: Node 9      4 files  5 passed, 2 failed, 0 skipped  (10.0 s)',
    '- long: hours      2 files  not run; on demand: npm test -- --leg long',
    '1 skipped: needs root',
    '!!! TESTS SKIPPED, missing: redis-server (apt-get install redis-server)',
    '✖ x:1 › adds: 3 is not 4',
    ...Array(19).fill('✖ y:2 › waits: too long'),
    '✖ … and 1 more',
    '!!! FLAKY, failed and then passed alone; the run has failed: y',
    '15 passed, 2 failed, 1 skipped',
  ])
})

test('a program that is missing for many tests is listed once', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-misses-'))
  t.after(() => rm(folder, { recursive: true }))
  const file = join(folder, 'misses')
  assert.deepEqual(readMisses(file), [])
  const miss = (program: string) => `${JSON.stringify({ program, installCommand: 'get it' })}\n`
  await writeFile(file, miss('b') + miss('a') + miss('b'))
  assert.deepEqual(readMisses(file), ['a (get it)', 'b (get it)'])
})

test('test files are chosen by path, folder, glob or any part of their path', () => {
  const files = [
    'packages/a/test/one.test.ts',
    'packages/a/test/two.test.ts',
    'scripts/test/c.test.ts',
  ]
  const select = (...words: string[]) =>
    selectFiles(files, words, { root: '/r', cwd: '/r/packages' }).selected
  assert.deepEqual(select('a/test/one.test.ts'), [files[0]])
  assert.deepEqual(select('a'), [files[0], files[1]])
  assert.deepEqual(select('*/test/*.test.ts'), [files[0], files[1]])
  assert.deepEqual(select('two', '../scripts'), [files[1], files[2]])
  assert.deepEqual(selectFiles(files, ['three'], { root: '/r', cwd: '/r' }), {
    selected: [],
    unknown: ['three'],
  })
})

test('the header of a test file declares its legs, servers and isolation', () => {
  const source =
    '/**\n * @legs main, oldest\n * @servers redis\n * @isolated counts handles\n * @slow\n */\n'
  assert.deepEqual(parseTestHeader(`${source}import 'x'\n`), {
    header: {
      legs: ['main', 'oldest'],
      servers: ['redis'],
      isolatedBecause: 'counts handles',
      isSlow: true,
    },
    faults: [],
  })
  const nothing = { legs: ['main'], servers: [], isolatedBecause: undefined, isSlow: false }
  assert.deepEqual(parseTestHeader("import 'x'\n/** @slow */\n").header, nothing)
  assert.equal(parseTestHeader("/** @slow */\nimport 'x'\n").header.isSlow, true)
})

test('an invalid header is an error with its line', () => {
  const source =
    '/**\n * @leg main\n * @servers redis memcached\n * @isolated\n * @slow\n * @slow\n */\n'
  assert.deepEqual(parseTestHeader(source).faults, [
    {
      line: 2,
      message: '@leg is not a tag of a test file; use @legs, @servers, @isolated, @slow',
    },
    { line: 3, message: '@servers takes a list of servers, not "redis memcached"' },
    { line: 4, message: '@isolated takes a reason, not ""' },
    { line: 6, message: '@slow occurs twice' },
  ])
})

test('every test file runs in CI, unless it is only for endurance', () => {
  const files = findTestFiles()
  const inCi = Object.entries(legs).flatMap(([name, leg]) => (leg.isOnDemand ? [] : [name]))
  const left = files.filter((file) => !file.legs.some((leg) => inCi.includes(leg)))
  // Durations are meaningful only on an idle machine.
  assert.deepEqual(
    left.map((file) => file.path),
    ['packages/auth/test/security/timing.test.ts'],
  )
  assert.ok(files.some((file) => file.legs.includes('safety')))
  const repeated = files.filter((file) => file.legs.includes('oldest')).map((file) => file.path)
  assert.ok(repeated.includes('packages/graphql-over-http/test/matrix.test.ts'))
  assert.ok(repeated.every((path) => path.startsWith('packages/graphql-over-http/test/')))
})

test('groups load every file once, separate isolated files, and start with the slow files', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-runner-'))
  t.after(() => rm(folder, { recursive: true }))
  const files = findTestFiles().filter((file) => file.legs.includes('main'))
  const byUrl = new Map(files.map((file) => [pathToFileURL(join(root, file.path)).href, file]))
  const paths = groupFiles(files, folder)
  const groups = paths.map((path) => {
    const source = readFileSync(path, 'utf8')
    const urls = [...source.matchAll(/^import '(.+)'$/gm)].map(([, url = '']) => url)
    return { urls, servers: parseTestHeader(source).header.servers }
  })
  for (const { urls, servers } of groups) {
    const members = urls.map((url) => byUrl.get(url))
    for (const file of members) assert.deepEqual(file?.servers, servers)
    const isAlone = members.some((file) => file?.isolatedBecause || file?.isSlow)
    assert.ok(!isAlone || members.length === 1)
  }
  assert.deepEqual(groups.flatMap(({ urls }) => urls).toSorted(), [...byUrl.keys()].toSorted())
  assert.ok(paths.length < files.length)
  // `node --test` sorts the paths.
  assert.deepEqual(paths.toSorted(), paths)
  assert.ok(byUrl.get(groups[0]?.urls[0] ?? '')?.isSlow)
})
