import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { checkApiReport } from '../api-report/api-report.ts'

/** A package with these declaration files; the first one can be imported. */
function openPackage(t: TestContext, files: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'api-report-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  for (const [name, text] of Object.entries(files)) write(name, text)
  const [types = ''] = Object.keys(files)
  const subpaths = [{ specifier: 'gate', types: `./${types}`, file: './index.js' }]
  const reported = { name: 'gate', folder, dist: folder, subpaths }
  const read = () => readFileSync(join(folder, 'api.md'), 'utf8')
  return { reported, write, read }
}

const documented = `/** Opens a gate. */
export declare function open(name: string): Gate;
/** A gate. */
export interface Gate extends AsyncDisposable {
    /** How wide it is. */
    readonly width: number;
    /** Closes it. */
    close(): Promise<void>;
    /** The same. */
    [Symbol.asyncDispose](): Promise<void>;
}
`

test('the report has every export without its comments', (t) => {
  const index = "export { type Gate as Door, open } from './gate.js';\nexport * from './more.js';\n"
  const more =
    "import type { Readable } from 'node:stream';\n/** Text. */\nexport type Text = Readable;\n"
  const { reported, read } = openPackage(t, {
    'index.d.ts': index,
    'gate.d.ts': documented,
    'more.d.ts': more,
  })
  assert.equal(checkApiReport(reported, true), 3)
  const [, code] = /```ts\n(.*)\n```/s.exec(read()) ?? []
  assert.equal(
    code,
    [
      '// exported as Door',
      'interface Gate extends AsyncDisposable {',
      '    readonly width: number;',
      '    close(): Promise<void>;',
      '    [Symbol.asyncDispose](): Promise<void>;',
      '}',
      'type Text = Readable;',
      'function open(name: string): Gate;',
    ].join('\n'),
  )
  assert.equal(checkApiReport(reported, false), 3)
})

test('a changed export is an error until the report is updated', (t) => {
  const { reported, write } = openPackage(t, { 'index.d.ts': documented })
  checkApiReport(reported, true)
  write('index.d.ts', documented.replace('width: number', 'width: bigint'))
  assert.throws(
    () => checkApiReport(reported, false),
    /gate: the exports differ from api\.md.*--update-api.*-.*width: number.*\+.*width: bigint/s,
  )
  checkApiReport(reported, true)
  checkApiReport(reported, false)
})

const faulty: readonly (readonly [title: string, code: string, fault: RegExp])[] = [
  ['an export', 'export declare const width: number;', /width has no TSDoc comment/],
  ['a type', 'export type Width = number;', /Width has no TSDoc comment/],
  [
    'a member',
    '/** A gate. */\nexport interface Gate { width: number }',
    /Gate.width has no TSDoc/,
  ],
  [
    'a member of an object type',
    '/** A gate. */\nexport type Gate = { width: number };',
    /Gate.width has no TSDoc/,
  ],
  ['a class', 'export declare class Gate { private secret; }', /Gate has no TSDoc/],
  [
    'a method',
    '/** A gate. */\nexport declare class Gate { open(): void; #own; }',
    /^index.d.ts: Gate.open has no TSDoc comment$/,
  ],
]
for (const [title, code, fault] of faulty) {
  test(`${title} without a comment is an error`, (t) => {
    const { reported } = openPackage(t, { 'index.d.ts': `${code}\n` })
    assert.throws(
      () => checkApiReport(reported, true),
      (error) => error instanceof Error && fault.test(error.message),
    )
  })
}

test('one comment is enough for overloads, and a line comment is not one', (t) => {
  const overloads =
    '/** Opens. */\nexport declare function open(a: 1): void;\nexport declare function open(a: 2): void;\n'
  const { reported, write } = openPackage(t, { 'index.d.ts': overloads })
  assert.equal(checkApiReport(reported, true), 1)
  write('index.d.ts', '// Opens.\nexport declare function open(): void;\n')
  assert.throws(() => checkApiReport(reported, true), /open has no TSDoc comment/)
})

test('an interface that can be closed has close() and Symbol.asyncDispose', (t) => {
  const both = /Gate needs both close\(\) and \[Symbol.asyncDispose\]\(\)/
  const { reported, write } = openPackage(t, { 'index.d.ts': '' })
  const gate = (head: string, body: string) =>
    write('index.d.ts', `/** A gate. */\nexport interface Gate${head} { ${body} }\n`)
  gate('', '/** Closes. */ close(): void')
  assert.throws(() => checkApiReport(reported, true), both)
  gate(' extends AsyncDisposable', '')
  assert.throws(() => checkApiReport(reported, true), both)
})
