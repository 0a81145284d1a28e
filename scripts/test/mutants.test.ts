import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { isCovered } from '../mutants/coverage.ts'
import { findMutants } from '../mutants/find-mutants.ts'
import { readImports } from '../mutants/import-graph.ts'
import type { Mutant } from '../mutants/mutant.ts'
import { findNearestTests } from '../mutants/nearest-tests.ts'
import { toReport, toScore } from '../mutants/report.ts'
import { runTest } from '../mutants/run-test.ts'
import { takeSample } from '../mutants/sample.ts'
import { measureBaselines, testMutant } from '../mutants/test-mutants.ts'

const limitMs = 120_000

/** A folder with these files, which is removed with the test. */
function writeProject(t: TestContext, files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'portcullis-mutants-'))
  t.after(() => rmSync(root, { recursive: true }))
  for (const [path, text] of Object.entries({ 'package.json': '{"type":"module"}', ...files })) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

function describeMutants(t: TestContext, code: string): string[] {
  const root = writeProject(t, { 'a.ts': code })
  return findMutants(root, 'a.ts').map(({ line, column, description: text }) => {
    return `${line}:${column} ${text}`
  })
}

function requireMutant(root: string, file: string, description: string): Mutant {
  const found = findMutants(root, file).find((mutant) => mutant.description === description)
  assert.ok(found, `${file} has a mutant ${description}`)
  return found
}

test('a comparison is changed to its other boundary and its opposite, at its position', (t) => {
  assert.deepEqual(describeMutants(t, 'export const a = (x: number, y: number) =>\n  x < y'), [
    '2:3 x < y → undefined',
    '2:5 < → <=',
    '2:5 < → >=',
  ])
})

test('conditions, numbers, returned values, negations and calls are changed', (t) => {
  const code = `export function f(a: boolean, g: () => void): number {
  if (!a) g()
  return 5
}`
  assert.deepEqual(describeMutants(t, code), [
    '2:7 !a without !',
    '2:7 !a → true',
    '2:7 !a → false',
    '2:11 removed g()',
    '3:10 5 → 6',
    '3:10 5 → (4)',
  ])
})

test('types between the operands do not move a mutant', (t) => {
  const code = 'export const f = (a: unknown) => { const b = (a as number /* + */) + 1; void b }'
  assert.ok(describeMutants(t, code).includes(`1:${code.lastIndexOf('+') + 1} + → -`))
})

test('error messages, log lines and sentences are not changed, other texts are emptied', (t) => {
  const code = `export function f(log: { info: (text: string) => void }): string {
  log.info('x')
  if (log) throw new Error('broken')
  const text = 'This is a sentence for people.'
  return text + 'key'
}`
  const found = describeMutants(t, code).filter((each) => each.includes("''"))
  assert.deepEqual(found, ["5:17 'key' → ''"])
})

const counter = {
  'src/count.ts': 'export const count = (a: number) => a + 1\nconsole.log(count(1))\n',
  'test/count.test.ts': `import assert from 'node:assert'
import test from 'node:test'
import { count } from '../src/count.ts'
test('adds', () => assert.equal(count(1), 2))
`,
}

test('a mutant makes its test fail and does not change the file', async (t) => {
  const root = writeProject(t, counter)
  const before = readFileSync(join(root, 'src/count.ts'), 'utf8')
  const mutant = requireMutant(root, 'src/count.ts', '+ → -')
  const run = { root, test: 'test/count.test.ts', limitMs }
  assert.equal((await runTest(run)).status, 'passed')
  assert.equal((await runTest({ ...run, mutant })).status, 'failed')
  assert.equal(readFileSync(join(root, 'src/count.ts'), 'utf8'), before)
})

test('the compile cache never gives one mutant the code of another', async (t) => {
  const root = writeProject(t, {
    ...counter,
    'test/two.test.ts': counter['test/count.test.ts'].replace(', 2)', ', 1)'),
  })
  const env = { NODE_COMPILE_CACHE: join(root, 'cache') }
  const run = { root, limitMs, env }
  const tests = ['test/count.test.ts', 'test/two.test.ts']
  const mutants = [undefined, requireMutant(root, 'src/count.ts', '1 → (0)'), undefined]
  const statuses: string[] = []
  for (const mutant of mutants) {
    for (const test of tests) {
      statuses.push((await runTest({ ...run, test, ...(mutant && { mutant }) })).status)
    }
  }
  const expected = ['passed', 'failed', 'failed', 'passed', 'passed', 'failed']
  assert.deepEqual(statuses, expected)
})

for (const [name, start] of Object.entries({
  'a program started with its own environment':
    "await new Promise((done) => spawn(process.execPath, [program], { env: {} }).stdout.on('data', (text) => done(String(text))))",
  'a program that the test waits for':
    "spawnSync(process.execPath, [program], { env: {}, encoding: 'utf8' }).stdout",
})) {
  test(`${name} is mutated too`, async (t) => {
    const root = writeProject(t, {
      ...counter,
      'test/program.test.ts': `import assert from 'node:assert'
import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import test from 'node:test'
const program = join(import.meta.dirname, '..', 'src', 'count.ts')
test('prints', async () => assert.equal(${start}, '2\\n'))
void spawn, spawnSync
`,
    })
    const mutant = requireMutant(root, 'src/count.ts', '+ → -')
    const run = { root, test: 'test/program.test.ts', limitMs }
    assert.equal((await runTest(run)).status, 'passed')
    assert.equal((await runTest({ ...run, mutant })).status, 'failed')
  })
}

test('a mutant that never ends is ended after the time limit', async (t) => {
  const root = writeProject(t, {
    'src/loop.ts': 'for (let left = 3; left > 0; left--) void left\n',
    'test/loop.test.ts': "import '../src/loop.ts'\n",
  })
  const mutant = requireMutant(root, 'src/loop.ts', '-- → ++')
  const run = { root, test: 'test/loop.test.ts', mutant, limitMs: 2_000 }
  assert.equal((await runTest(run)).status, 'timeout')
})

test('survivors, survivors without coverage and killed mutants are distinguished', async (t) => {
  const root = writeProject(t, {
    'src/sign.ts': `export function sign(x: number): number {
  if (x > 0) return 1
  if (x === 0) return 0
  return unused(x)
}
const unused = (x: number) => -x
`,
    'test/sign.test.ts': `import assert from 'node:assert'
import test from 'node:test'
import { sign } from '../src/sign.ts'
test('knows positive numbers', () => assert.equal(sign(5), 1))
`,
    'test/broken.test.ts': "throw new Error('x')\n",
    'test/skipped.test.ts': "import test from 'node:test'\ntest('x', { skip: true })\n",
  })
  const options = { root, concurrency: 2, budgetMs: limitMs, env: {} }
  const tests = ['test/sign.test.ts', 'test/broken.test.ts', 'test/skipped.test.ts']
  const unusable: Record<string, string | undefined> = {}
  const baselines = await measureBaselines(tests, options, (test, reason) => {
    unusable[test] = reason?.split('\n')[0]
  })
  assert.deepEqual(unusable, {
    'test/sign.test.ts': undefined,
    'test/broken.test.ts': 'fails without a mutant',
    'test/skipped.test.ts': 'skips all its tests',
  })
  const results = []
  for (const description of ['> → <=', '> → >=', '=== → !==']) {
    const mutant = requireMutant(root, 'src/sign.ts', description)
    results.push(await testMutant(mutant, [...baselines.values()], options))
  }
  assert.deepEqual(
    results.map(({ status }) => status),
    ['killed', 'survived', 'no coverage'],
  )
  const { score, ...counts } = toScore('x', results)
  assert.deepEqual(counts, { name: 'x', mutants: 3, killed: 1, survived: 2, uncovered: 1 })
  assert.equal(score, 33.3)
  assert.match(
    toReport(root, results),
    /survived .*src\/sign\.ts:2:9.* {2}> → >=\n {4}if \(x > 0\) return 1/,
  )
})

test('the innermost range decides whether code ran, in any of the processes', () => {
  const range = (startOffset: number, endOffset: number, count: number) => {
    return { startOffset, endOffset, count }
  }
  const coverage = new Map([['a.ts', [[range(0, 100, 1), range(10, 20, 0)], [range(15, 20, 2)]]]])
  assert.deepEqual(
    [5, 12, 17, 200].map((offset) => isCovered(coverage, 'a.ts', offset)),
    [true, false, true, false],
  )
})

test('the nearest tests are those at the same path, with the same words, with fewer imports', (t) => {
  const root = writeProject(t, {
    'packages/a/src/core/verify.ts': '',
    'packages/a/src/main.ts': "await import('./core/verify.ts')\n",
    'packages/a/src/shape.ts': "import type { X } from './core/verify.ts'\n",
    'packages/a/test/core/verify.test.ts': "import '../../src/core/verify.ts'\n",
    'packages/a/test/direct.test.ts': "import {\n  a,\n} from '../src/core/verify.ts'\n",
    'packages/a/test/http/verify-get.test.ts': "join('..', '..', 'src', 'main.ts')\n",
    'packages/a/test/program.test.ts': "join(folder, 'src', 'main.ts')\n",
    'packages/a/test/types.test.ts': "import '../src/shape.ts'\n",
    'packages/a/package.json': '{"name":"@x/a","exports":{"./*":"./src/*.ts"}}',
    'packages/b/test/verify.test.ts': "import '@x/a/core/verify'\n",
  })
  assert.deepEqual(findNearestTests(readImports(root), 'packages/a/src/core/verify.ts'), [
    'packages/a/test/core/verify.test.ts',
    'packages/a/test/direct.test.ts',
    'packages/a/test/http/verify-get.test.ts',
    'packages/a/test/program.test.ts',
    'packages/b/test/verify.test.ts',
  ])
})

test('the same seed takes the same sample, in the order of the code', () => {
  const items = Array.from({ length: 50 }, (_, index) => index)
  const sample = takeSample(items, 10, 7)
  assert.equal(sample.length, 10)
  assert.deepEqual(takeSample(items, 10, 7), sample)
  assert.notDeepEqual(takeSample(items, 10, 8), sample)
  assert.deepEqual(
    sample.toSorted((a, b) => a - b),
    sample,
  )
})

function runCommand(...args: readonly string[]) {
  const command = join(import.meta.dirname, '..', 'mutants.ts')
  return spawnSync(process.execPath, [command, ...args], { encoding: 'utf8' })
}

test('the command fails with a message when the score is too low', () => {
  const args = ['--sample', '1', '--max-tests', '1', '--min']
  const run = runCommand('packages/service-kit/src/settings/duration.ts', ...args, '101')
  assert.match(run.stdout, /All files +1 /)
  assert.match(run.stdout, /1 of \d+ mutants were tested \(seed 1\)\./)
  assert.match(run.stderr, /at least 101 % is required/)
  assert.equal(run.status, 1)
})

test('survivors are tested again, and count together with those killed before', (t) => {
  const file = 'packages/service-kit/src/settings/duration.ts'
  const [first, second, gone] = findMutants(join(import.meta.dirname, '..', '..'), file)
  const folder = writeProject(t, {
    'results.json': JSON.stringify([
      { mutant: first, status: 'killed', killedBy: 'x' },
      { mutant: second, status: 'survived' },
    ]),
    'outdated.json': JSON.stringify([
      { mutant: { ...gone, description: 'a → b' }, status: 'survived' },
    ]),
  })
  const again = (name: string) =>
    runCommand(file, '--max-tests', '1', '--again', join(folder, name))
  assert.match(again('results.json').stdout, /All files +2 /)
  const outdated = again('outdated.json')
  assert.equal(outdated.status, 2)
  assert.match(outdated.stderr, /no longer has the mutant a → b/)
})

test('the command prints its usage, and refuses unknown options with code 2', () => {
  const help = runCommand('--help')
  assert.deepEqual([help.status, /^Usage: npm run mutants/.test(help.stdout)], [0, true])
  const refused: Readonly<Record<string, readonly string[]>> = {
    'Unknown option --x.\nSee: npm run mutants -- --help\n': ['--x'],
    'The FILE is missing.': [],
    'No TypeScript file matches "nowhere"': ['nowhere'],
    '--sample must be a number, not "few"': ['scripts/mutants', '--sample', 'few'],
  }
  for (const [message, args] of Object.entries(refused)) {
    const { status, stderr } = runCommand(...args)
    assert.equal(status, 2)
    assert.ok(stderr.includes(message), stderr)
  }
})
