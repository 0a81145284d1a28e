import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

// The files in types/ are compiled with the rest of the repository, and a line there that must not
// compile is marked. This test removes the marks: each must have hidden exactly the error that it
// names.

const folder = fileURLToPath(new URL('./types', import.meta.url))
const root = fileURLToPath(new URL('../../..', import.meta.url))
const tsc = createRequire(import.meta.url)
  .resolve('typescript/package.json')
  .replace(/package\.json$/, 'bin/tsc')
const MARK = /^\s*\/\/ @ts-expect-error (TS\d+): \S/

/** Errors of the compiler as `file(line): code`, sorted. */
async function compile(project: string): Promise<readonly string[]> {
  const run = promisify(execFile)(process.execPath, [tsc, '--pretty', 'false', '-p', project])
  const output = await run.then(
    () => '',
    (error: { readonly stdout: string }) => error.stdout,
  )
  const errors = output.matchAll(/^(?:.*\/)?([\w-]+\.ts)\((\d+),\d+\): error (TS\d+)/gm)
  return [...errors].map(([, file, line, code]) => `${file}(${line}): ${code}`).toSorted()
}

test('each mark in the type tests hides exactly the error it names', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'types-'))
  t.after(() => rm(directory, { recursive: true }))

  const expected: string[] = []
  for (const name of await readdir(folder)) {
    const lines = (await readFile(join(folder, name), 'utf8')).split('\n')
    for (const [index, line] of lines.entries()) {
      if (!line.includes('@ts-expect-error')) continue
      const code = MARK.exec(line)?.[1]
      assert.ok(code, `${name}(${index + 1}): a mark must name the error and the reason`)
      lines[index] = '//'
      // Lines are counted from one, and the error is in the line after its mark.
      expected.push(`${name}(${index + 2}): ${code}`)
    }
    // The copy is in another folder: relative imports become absolute, except within its own
    // folder.
    const text = lines
      .join('\n')
      .replaceAll(/from '(\.\.\/[^']+)'/g, (_, path) => `from '${join(folder, path)}'`)
    await writeFile(join(directory, name), text)
  }
  // A false statement, to check that these are detected.
  await writeFile(
    join(directory, 'planted.ts'),
    "import { type Equal, isTrue } from './equal.ts'\nisTrue<Equal<string, unknown>>()\n",
  )
  expected.push('planted.ts(2): TS2344')

  // The copies are ES modules too, and resolve the same packages as the originals.
  await writeFile(join(directory, 'package.json'), '{ "type": "module" }')
  await symlink(join(root, 'node_modules'), join(directory, 'node_modules'), 'junction')
  const project = join(directory, 'tsconfig.json')
  await writeFile(
    project,
    JSON.stringify({
      extends: join(root, 'tsconfig.base.json'),
      compilerOptions: { noEmit: true },
      include: ['*.ts'],
    }),
  )
  assert.ok(expected.length > 10)
  assert.deepEqual(await compile(project), expected.toSorted())
})
