import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { checkCoverageList } from '../testing/coverage-list.ts'

const testFile = `
import { test, describe } from 'node:test'
import { sentences } from './table.ts'
// test('a test in a comment', () => {})
const note = "test('a test in a string', () => {})"
test('plain title', () => {})
test("it's quoted", { timeout: 1 }, async (t) => {
  await t.test('inner title', () => {})
})
for (const unit of ['second', 'minute']) test(\`counts per \${unit} exactly\`, () => {})
describe('a suite', () => { test('its ' + nth + ' test', () => {}) })
const nth = 'first'
test.skip('left out', () => {})
test('skipped by option', { skip: true }, () => {})
test('skipped where a server is missing', { skip: !server && 'no server' }, () => {})
test('only planned')
if (/re/.test('text of a pattern')) throw new Error()
`

/** Writes a list with these rows beside a few test files, and returns its faults. */
async function faultsOf(
  t: TestContext,
  rows: readonly (readonly string[])[],
  files: Readonly<Record<string, string>> = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-coverage-'))
  t.after(() => rm(folder, { recursive: true }))
  const table = rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
  const all = {
    'test/specification/README.md': `# List\n\n## One\n\n| sentence | test |\n|---|---|\n${table}\n`,
    'test/a.test.ts': testFile,
    'test/table.ts': '',
    ...files,
  }
  for (const [name, text] of Object.entries(all)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  return checkCoverageList(join(folder, 'test/specification/README.md')).faults
}

const link = '[a.test.ts](../a.test.ts)'

test('a list whose rows name tests, rows with tests, or reasons is valid', async (t) => {
  const faults = await faultsOf(t, [
    ['a', `${link} › plain title`],
    ['b', `${link} › it's quoted`],
    ['c', `${link} › inner title`],
    ['d', `${link} › it's quoted › inner title`],
    ['e', `${link} › counts per second exactly`],
    ['f', `${link} › a suite › its first test`],
    ['g', `${link} › skipped where a server is missing`],
    ['h', `${link} › plain title<br>${link} › inner title`],
    ['i', 'see One › a'],
    ['j', 'see One › i'],
    ['k', 'not testable: a rule for operators'],
  ])
  assert.deepEqual(faults, [])
})

test('a row without a test, or with something else instead, is an error', async (t) => {
  const faults = await faultsOf(t, [
    ['empty', ''],
    ['reason missing', 'not testable:'],
    ['words', 'somewhere'],
    ['title missing', link],
    ['one of two', `${link} › plain title<br>elsewhere`],
    ['three', 'columns', 'here'],
  ])
  assert.equal(faults.length, 6)
  assert.match(faults[0] ?? '', /^line 12: 3 columns instead of 2$/)
  assert.match(faults[1] ?? '', /^line 7: "One › empty" has no test$/)
  assert.match(faults[2] ?? '', /gives no reason$/)
  for (const fault of faults.slice(3)) assert.match(fault, /has neither/)
})

test('a test must be the title of a test that runs, not other text of the file', async (t) => {
  const titles = [
    'plain',
    'a test in a comment',
    'a test in a string',
    'left out',
    'skipped by option',
    'only planned',
    'text of a pattern',
    'counts per  exactly and more',
    'counts per year exactly',
    'plain title › inner title',
  ]
  const faults = await faultsOf(
    t,
    titles.map((title) => [title, `${link} › ${title}`]),
  )
  assert.deepEqual(
    faults.map((fault) => fault.split('names a test that is not in ../a.test.ts: ')[1]),
    titles,
  )
})

test('a linked file must exist, and match the text of the link', async (t) => {
  const faults = await faultsOf(t, [
    ['gone', '[b.test.ts](../b.test.ts) › plain title'],
    ['other', '[b.test.ts](../a.test.ts) › plain title'],
  ])
  assert.match(faults[0] ?? '', /names a file that does not exist: \.\.\/b\.test\.ts$/)
  assert.match(faults[1] ?? '', /shows b\.test\.ts, but links to \.\.\/a\.test\.ts$/)
})

test('a reference must name a row that has a test', async (t) => {
  const faults = await faultsOf(t, [
    ['nowhere', 'see One › no such row'],
    ['itself', 'see One › itself'],
    ['there', 'see One › back'],
    ['back', 'see One › there'],
    ['no test', 'see One › reason'],
    ['reason', 'not testable: a rule for operators'],
  ])
  assert.deepEqual(
    faults.map((fault) => fault.replace(/^line \d+: /, '')),
    [
      '"One › nowhere" points to a row that does not exist: see One › no such row',
      '"One › itself" is a circular reference: see One › itself',
      '"One › there" is a circular reference: see One › back',
      '"One › back" is a circular reference: see One › there',
      '"One › no test" points to a row that has no test: see One › reason',
    ],
  )
})

test('a sentence may occur once in a section', async (t) => {
  const row = ['same', `${link} › plain title`]
  assert.deepEqual(await faultsOf(t, [row, row]), ['line 8: "One › same" occurs twice'])
})

test('a list without rows is an error', async (t) => {
  assert.match((await faultsOf(t, [])).join(), /no row below a table heading/)
})

test('a title from a variable is found among the strings of the file and of its imports', async (t) => {
  const files = {
    'test/a.test.ts':
      "import { cases } from './table.ts'\nfor (const c of cases) test(c.title, () => {})\n",
    'test/table.ts':
      "// a comment\nexport const cases = [{ title: 'from the table' }]\n" +
      `const more = { title: \`a new \${unit} begins\`, unit: 'second' }\n`,
  }
  const faults = await faultsOf(
    t,
    [
      ['found', `${link} › from the table`],
      ['template', `${link} › a new second begins`],
      ['part', `${link} › from the`],
      ['value', `${link} › a new century begins`],
      ['comment', `${link} › a comment`],
    ],
    files,
  )
  assert.equal(faults.length, 3)
  assert.match(faults[0] ?? '', /"One › part" names a test that is not in/)
  assert.match(faults[1] ?? '', /"One › value" names a test that is not in/)
  assert.match(faults[2] ?? '', /"One › comment" names a test that is not in/)
})

test('a string is not a title if every test has a fixed title', async (t) => {
  const files = { 'test/a.test.ts': "const words = 'some words'\ntest('fixed', () => words)\n" }
  const faults = await faultsOf(t, [['words', `${link} › some words`]], files)
  assert.match(faults.join(), /names a test that is not in/)
})

test('tests in a shared file count only if a test file imports it', async (t) => {
  const row = ['shared', '[contract.ts](../contract.ts) › shared test']
  const contract = "export function testIt() { test('shared test', () => {}) }\n"
  assert.match(
    (await faultsOf(t, [row], { 'test/contract.ts': contract })).join(),
    /names a file that no test file imports/,
  )
  const files = {
    'test/contract.ts': contract,
    'test/between.ts': "export { testIt } from './contract.ts'\n",
    'test/a.test.ts': "import { testIt } from './between.ts'\ntestIt()\n",
  }
  assert.deepEqual(await faultsOf(t, [row], files), [])
})

test('a test beside the list that no row names is an error', async (t) => {
  const files = {
    'test/specification/own.test.ts': `
      test('outer', async (t) => { await t.test('named', () => {}) })
      test('whole', async (t) => { await t.test('part', () => {}) })
      test('forgotten', () => {})`,
    'test/specification/completeness.test.ts': "test('the list is complete', () => {})",
  }
  const rows = [
    ['a', '[own.test.ts](own.test.ts) › named'],
    ['b', '[own.test.ts](own.test.ts) › whole'],
  ]
  assert.deepEqual(await faultsOf(t, rows, files), [
    'own.test.ts: no row names the test "forgotten"',
  ])
})
