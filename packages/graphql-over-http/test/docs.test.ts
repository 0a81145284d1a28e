import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { after, describe, type TestContext, test } from 'node:test'
import { findFreePort } from '@portcullis/test-servers'
import { type DocBlock, readBlocks, readPrintedLines, toSource } from './support/doc-blocks.ts'
import { type Command, isListening, root, runProgram, startProgram } from './support/program.ts'

// Every code block of these pages is written to a file, type-checked and run. Two things are
// changed: port 4000 becomes a free port, and `npx` becomes the command's own file, since npx would
// query the registry. The output of a block must match the output that the page shows.

/**
 * The roles that the word after the language may name; blocks in other languages are
 * illustrations.
 */
const ROLES: { readonly [language: string]: readonly string[] } = {
  ts: ['', 'server', 'client'],
  js: ['cjs'],
  sh: [''],
  diff: ['server'],
}

// Inside the repository, so that the packages of the workspace can be resolved.
const cache = join(root, '.cache')
mkdirSync(cache, { recursive: true })
const folder = mkdtempSync(join(cache, 'docs-'))
after(() => rmSync(folder, { recursive: true }))

interface Program {
  readonly name: string
  readonly block: DocBlock
  readonly file: string
  readonly source: string
  readonly port: number
  /** For a shell block, the following block with its output. */
  readonly output: string | undefined
}

const programs: Program[] = []
let mainPort: number | undefined
for (const page of ['docs/graphql.md', 'docs/graphql-migration.md', 'README.md']) {
  const blocks = readBlocks(readFileSync(join(root, page), 'utf8'))
  for (const [index, block] of blocks.entries()) {
    const { language, role, line } = block
    if (!ROLES[language]) continue
    const isServer = role === 'server'
    const port: number = isServer || mainPort === undefined ? await findFreePort() : mainPort
    if (isServer) mainPort ??= port
    const extension = role === 'cjs' ? 'cjs' : language === 'diff' ? 'ts' : language
    const file = join(folder, block.file ?? `${basename(page, '.md')}-${line}.${extension}`)
    const source = toSource(block).replaceAll('4000', String(port))
    writeFileSync(file, source)
    const next = blocks[index + 1]
    const output = next?.role === 'output' ? next.code : undefined
    programs.push({ name: `${page}, line ${line}`, block, file, source, port, output })
  }
}

const main = programs.find(({ block }) => block.role === 'server')
const withRole = (...roles: readonly string[]) =>
  programs.filter(({ block }) => !block.file && roles.includes(block.role))

const node = ({ file }: Program): Command => [process.execPath, file]

async function serve(t: TestContext, program: Program | undefined): Promise<string> {
  assert.ok(program)
  await startProgram(t, node(program), { isReady: () => isListening(program.port) })
  return `http://localhost:${program.port}/graphql`
}

test('the pages have blocks of known kinds, and a first server for the others to talk to', () => {
  assert.equal(main?.name, programs.find(({ source }) => source.includes('listen('))?.name)
  for (const { name, block } of programs) {
    const { language, role, file } = block
    assert.ok(file !== undefined || ROLES[language]?.includes(role), `${name}: ${language} ${role}`)
  }
})

test('every program type-checks', async () => {
  const config = {
    extends: join(root, 'tsconfig.base.json'),
    // A page may define a value that it does not use.
    compilerOptions: {
      noEmit: true,
      noUnusedLocals: false,
      typeRoots: [join(root, 'node_modules/@types')],
    },
    include: ['*.ts'],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { code, stdout } = await runProgram([process.execPath, tsc, '-p', folder])
  assert.equal(code, 0, stdout)
})

describe('each server', { concurrency: 3 }, () => {
  for (const program of withRole('server')) {
    test(`${program.name}: answers at /graphql and with 404 elsewhere`, async (t) => {
      const url = await serve(t, program)
      // Several times, because a cache or a compiler may change later responses.
      for (const name of ['Ada', undefined, 'Zoë', undefined, 'Ada', undefined]) {
        const greeting = 'query ($name: String) { hello(name: $name) }'
        const response = await fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(
            name ? { query: greeting, variables: { name } } : { query: '{ hello }' },
          ),
        })
        assert.equal(response.status, 200)
        assert.deepEqual(await response.json(), { data: { hello: `Hello, ${name ?? 'world'}!` } })
      }
      const elsewhere = await fetch(new URL('/elsewhere', url))
      assert.equal(elsewhere.status, 404)
      await elsewhere.text()
    })
  }
})

test('each program prints what the page shows', async (t) => {
  await serve(t, main)
  for (const program of withRole('', 'client', 'cjs')) {
    if (program.block.language === 'sh') continue
    await t.test(program.name, async () => {
      const { code, stdout, stderr } = await runProgram(node(program))
      assert.equal(code, 0, stdout + stderr)
      const expected = readPrintedLines(program.source)
      if (expected.length > 0) assert.deepEqual(stdout.trimEnd().split('\n'), expected)
    })
  }
})

const hasCurl = spawnSync('curl', ['--version']).status === 0
const skip = !hasCurl && !process.env['CI'] && 'curl is missing: apt-get install curl'

test('each command prints what the page shows', { skip }, async (t) => {
  await serve(t, main)
  const bin = join(root, 'packages/graphql-over-http/src/cli/main.ts')
  for (const { name, block, source, output } of programs) {
    if (block.language !== 'sh') continue
    await t.test(name, async () => {
      const script = source.replaceAll(
        'npx @portcullis/graphql-over-http',
        `'${process.execPath}' '${bin}'`,
      )
      const { code, stdout, stderr } = await runProgram(['sh', '-ec', script])
      assert.equal(code, 0, stdout + stderr)
      if (output !== undefined) assert.equal(stdout.trimEnd(), output.trimEnd())
    })
  }
})
