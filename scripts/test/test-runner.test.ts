import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { findTestFiles, legs, root } from '../testing/matrix.ts'
import { selectFiles } from '../testing/select-files.ts'
import { shareProcesses } from '../testing/share-processes.ts'
import { readMisses, summarize } from '../testing/summary.ts'

const runners = {
  runLeg: import.meta.resolve('../testing/run-leg.ts'),
  runWithSecondTry: import.meta.resolve('../testing/run-again.ts'),
}

interface RunSettings {
  readonly timeoutMs?: number
  readonly runner?: keyof typeof runners
}

/** Runs test files with the quiet reporter, as the whole run does. */
async function runFiles(
  t: TestContext,
  files: Record<string, string>,
  { timeoutMs = 20_000, runner = 'runLeg' }: RunSettings = {},
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
    timeoutMs,
    missesFile: join(folder, 'misses'),
    nodeArgs: [],
  }
  const script = `
    const { ${runner} } = await import(${JSON.stringify(runners[runner])})
    const leg = { title: 'x', node: () => process.execPath, nodeArgs: [], env: {}, files: () => [] }
    console.log('RESULT' + JSON.stringify(await ${runner}(leg, ${JSON.stringify(options)})))`
  // A test process inside a test process would report to the outer one.
  const { NODE_TEST_CONTEXT, ...env } = process.env
  const run = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    env,
  })
  const [output = '', result = '{}'] = run.stdout.split('RESULT')
  const { passed, failed, skipped, unsteadyFiles } = JSON.parse(result)
  return { output, stderr: run.stderr, counts: { passed, failed, skipped }, unsteadyFiles }
}

test('what works is counted and not told', async (t) => {
  const { output, stderr, counts } = await runFiles(t, {
    'a.test.ts': "console.log('chatter')\ntest('fine', () => {})\ntest('later', { skip: true })\n",
    'b.test.ts': "test('also fine', () => {})\ntest('some day', { todo: true })\n",
  })
  assert.deepEqual(counts, { passed: 2, failed: 0, skipped: 2 }, stderr)
  assert.equal(output.trim(), '')
})

test('a failure is told with its place, its names, its reason and what the file printed', async (t) => {
  const { output, counts } = await runFiles(t, {
    'a.test.ts':
      "console.log('chatter')\n" +
      "test('outer', (t) => t.test('inner', () => assert.equal(1, 2)))\ntest('fine', () => {})\n",
  })
  assert.deepEqual(counts, { passed: 1, failed: 2, skipped: 0 })
  assert.match(output, /✖ .+a\.test\.ts:4 › outer › inner\n {4}AssertionError.+1 == 2/)
  assert.match(output, /It printed:\n {4}chatter/)
  assert.equal(output.match(/✖/g)?.length, 1, 'the outer test has nothing to say of its own')
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

test('a file that leaves something open is ended and told what it was', async (t) => {
  const { output, counts } = await runFiles(
    t,
    {
      'a.test.ts':
        "import { createServer } from 'node:net'\n" +
        "test('leaks', () => void createServer().listen(0))\n",
    },
    // The limit for a file is five seconds later.
    { timeoutMs: 1000 },
  )
  assert.deepEqual(counts, { passed: 1, failed: 1, skipped: 0 })
  assert.match(output, /still running after 6 s and was ended\..+TCPServerWrap/)
})

/** Fails in its first run only, and leaves a note beside itself that there was one. */
const failsOnce =
  "import { existsSync, writeFileSync } from 'node:fs'\n" +
  "const note = import.meta.filename + '.note'\n" +
  "test('unsteady', () => { if (!existsSync(note)) { writeFileSync(note, ''); assert.fail('once') } })\n"

test('a file that fails runs once more, alone, and is told apart from one that passes at once', async (t) => {
  const { output, counts, unsteadyFiles } = await runFiles(
    t,
    { 'a.test.ts': failsOnce, 'b.test.ts': "test('fine', () => {})\n" },
    { runner: 'runWithSecondTry' },
  )
  assert.deepEqual(counts, { passed: 1, failed: 0, skipped: 0 })
  assert.match(output, /✖ .+a\.test\.ts:\d+ › unsteady\n {4}AssertionError.+once/)
  assert.match(output, /Once more, alone: \S+a\.test\.ts\n/)
  assert.equal(unsteadyFiles.length, 1)
  assert.match(unsteadyFiles[0], /a\.test\.ts$/)
})

test('a file that fails twice has failed, and of many nobody asks twice', async (t) => {
  const runner = 'runWithSecondTry'
  const fails = "test('wrong', () => assert.fail('always'))\n"
  const twice = await runFiles(t, { 'a.test.ts': fails, 'b.test.ts': failsOnce }, { runner })
  assert.deepEqual(twice.counts, { passed: 0, failed: 2, skipped: 0 })
  assert.equal(twice.output.match(/› wrong/g)?.length, 2)
  const names = ['a', 'b', 'c', 'd'].map((name) => `${name}.test.ts`)
  const many = await runFiles(t, Object.fromEntries(names.map((name) => [name, failsOnce])), {
    runner,
  })
  assert.deepEqual(many.counts, { passed: 0, failed: 4, skipped: 0 })
})

test('the summary adds up and ends with the plain line', () => {
  const results = new Map([
    ['Node 24', { passed: 10, failed: 0, skipped: 1, failedFiles: [], seconds: 1.23 }],
    ['Node 9', { passed: 5, failed: 2, skipped: 0, failedFiles: ['x'], seconds: 10 }],
    [
      'Node 8',
      { passed: 1, failed: 0, skipped: 0, failedFiles: [], unsteadyFiles: ['y'], seconds: 0 },
    ],
  ])
  assert.deepEqual(summarize(results, ['redis-server (apt-get install redis-server)']), [
    '✔ Node 24  10 passed, 0 failed, 1 skipped  (1.2 s)',
    '✖ Node 9   5 passed, 2 failed, 0 skipped  (10.0 s)',
    '✔ Node 8   1 passed, 0 failed, 0 skipped  (0.0 s)',
    '!!! TESTS SKIPPED, missing: redis-server (apt-get install redis-server)',
    '!!! UNSTEADY, passed only when it ran alone: y',
    '16 passed, 2 failed, 1 skipped',
  ])
})

test('a program that many tests missed is named once', async (t) => {
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

test('the other legs repeat tests of the library, and only those', () => {
  const all = findTestFiles()
  // Every file is in one of the two, and in no more.
  assert.deepEqual([...legs.main.files(), ...legs.long.files()].toSorted(), all)
  assert.ok(legs.long.files().length < 60)
  for (const leg of [legs['graphql-16'], legs['node-22']]) {
    const files = leg.files()
    assert.ok(files.includes('packages/graphql-over-http/test/matrix.test.ts'))
    assert.ok(files.every((file) => all.includes(file)))
    assert.ok(files.every((file) => file.startsWith('packages/graphql-over-http/test/')))
    assert.ok(!files.some((file) => file.includes('memory') || file.includes('node_modules')))
  }
})

test('files that share a process are all loaded, each once', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-runner-'))
  t.after(() => rm(folder, { recursive: true }))
  const files = legs.main.files()
  const given = shareProcesses(files, folder)
  const loaded = given.flatMap((path) => {
    if (!path.startsWith(folder)) return [pathToFileURL(join(root, path)).href]
    const imports = readFileSync(path, 'utf8').matchAll(/^import '(.+)'$/gm)
    return [...imports].map(([, url = '']) => url)
  })
  const expected = files.map((file) => pathToFileURL(join(root, file)).href)
  assert.deepEqual(loaded.toSorted(), expected.toSorted())
  assert.ok(given.length < files.length)
})
