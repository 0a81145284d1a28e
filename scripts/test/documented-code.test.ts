// Checks that the code in the manuals of the libraries, and in the comments of their exports,
// compiles and prints what it shows. One compiler run checks all of it.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { format, promisify } from 'node:util'

const root = dirname(dirname(import.meta.dirname))
const run = promisify(execFile)

interface Block {
  /** The position, for messages. */
  readonly place: string
  readonly code: string
  /** Whether it is a program that can be run. */
  readonly isProgram: boolean
}

const pages = ['docs/ratelimit-library.md', 'packages/ratelimit/README.md']

/** The TypeScript blocks of a page; `ts run` marks those to run. */
function readPage(page: string): Block[] {
  const text = read(page)
  return [...text.matchAll(/^```ts( run)?\n(.*?)^```$/gms)].map(
    ({ 1: role, 2: code = '', index }) => ({
      place: `${page}:${text.slice(0, index).split('\n').length}`,
      code,
      isProgram: role !== undefined,
    }),
  )
}

const sources = globSync(
  [
    'packages/{ratelimit,graphql-over-http,grpc-unary}/src/**/*.ts',
    'packages/auth/src/verify/**/*.ts',
  ],
  { cwd: root },
)

/** The code of each `@example` in a file. */
function readExamples(file: string): Block[] {
  const text = read(file)
  return [...text.matchAll(/^ *\/\*\*.*?\*\//gms)].flatMap(({ 0: comment, index }) => {
    const line = text.slice(0, index).split('\n').length
    const plain = comment.replaceAll(/^ *\* ?/gm, '')
    return plain
      .split('@example')
      .slice(1)
      .map((example) => {
        const code = /^\s*```ts\n(.*?)^```/ms.exec(example)?.[1]
        assert.ok(code, `${file}:${line}: an @example needs a block that begins with \`\`\`ts`)
        return { place: `${file}:${line}`, code, isProgram: false }
      })
  })
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

// Inside the repository, so that the packages of the workspace can be resolved.
mkdirSync(join(root, '.cache'), { recursive: true })
const folder = mkdtempSync(join(root, '.cache', 'documented-code-'))
after(() => rmSync(folder, { recursive: true }))

const blocks = [...pages.flatMap(readPage), ...sources.flatMap(readExamples)].map(
  (block, index) => {
    const file = join(folder, `${basename(block.place).replaceAll(/[^\w]+/g, '-')}-${index}.ts`)
    writeFileSync(file, block.code)
    return { ...block, file }
  },
)

test('every block compiles', async () => {
  const config = {
    extends: join(root, 'tsconfig.base.json'),
    compilerOptions: {
      noEmit: true,
      moduleDetection: 'force',
      // A page may define a value that it does not use.
      noUnusedLocals: false,
      typeRoots: [join(root, 'node_modules/@types')],
    },
    include: ['*.ts'],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const outcome = await run(process.execPath, [tsc, '-p', folder], { cwd: folder }).catch(
    (error: { stdout: string }) => error,
  )
  const places = blocks.map(({ file, place }) => [basename(file), place] as const)
  const faults = places.reduce(
    (text, [name, place]) => text.replaceAll(name, place),
    outcome.stdout,
  )
  assert.equal(faults, '')
})

for (const { place, file, code, isProgram } of blocks) {
  if (!isProgram) continue
  test(`${place} runs and prints what it shows`, async (t) => {
    const { mock } = t.mock.method(console, 'log', () => {})
    await import(file)
    const printed = mock.calls.map(({ arguments: values }) => format(...values))
    const expected = [...code.matchAll(/console\.log\(.*\) \/\/ (.+)$/gm)].flatMap(
      ([, lines = '']) => lines.split(', then '),
    )
    assert.deepEqual(printed, expected)
  })
}

test('no page or example uses unverified credentials as a key', () => {
  const files = globSync(['*.md', 'docs/*.md', 'packages/*/README.md', 'examples/**/*.{ts,md}'], {
    cwd: root,
  })
  assert.ok(files.length > 20)
  for (const file of files) {
    for (const [callback = ''] of read(file).matchAll(
      /(?:descriptors|keys): (?:async )?\(?[^)=]*\)? =>.*?\n *\}\)?,?\n/gs,
    )) {
      assert.doesNotMatch(callback, /authorization|cookie/i, `${file} counts by a secret`)
      const isKeyed = /x-api-key/i.test(callback)
      assert.ok(!isKeyed || callback.includes('secretKey('), `${file} counts by an API key`)
    }
  }
})
