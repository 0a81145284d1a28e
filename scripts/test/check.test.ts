import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'

const root = dirname(dirname(import.meta.dirname))

const settings = [
  ...['biome.json', 'tsconfig.json', 'tsconfig.base.json'],
  ...['.oxlintrc.json', '.oxlintrc.types.json'],
]

/** A repository with our settings and only these files. */
async function openRepository(t: TestContext, files: Record<string, string>) {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-check-'))
  t.after(() => rm(folder, { recursive: true }))
  for (const name of settings) {
    await cp(join(root, name), join(folder, name))
  }
  await writeFile(join(folder, 'package.json'), '{\n  "type": "module"\n}\n')
  await writeFile(join(folder, '.gitignore'), 'node_modules\n')
  await mkdir(join(folder, 'scripts'))
  for (const name of ['check.ts', 'boundaries', 'words']) {
    await cp(join(root, 'scripts', name), join(folder, 'scripts', name), { recursive: true })
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  const { stdout, status } = spawnSync(process.execPath, ['scripts/check.ts'], {
    cwd: folder,
    encoding: 'utf8',
  })
  const failing = [...stdout.matchAll(/^✖ (\w+)/gm)].map(([, name]) => name)
  return { stdout, status, failing }
}

const tools = ['Biome', 'TypeScript', 'boundaries', 'oxlint', 'words']
const library = 'packages/graphql-over-http/src'
const sound = { [`${library}/request.ts`]: 'export const answer = 42\n' }

test('correct code passes with one line per check', async (t) => {
  const { stdout, status } = await openRepository(t, sound)
  assert.equal(status, 0, stdout)
  const names = stdout
    .trim()
    .split('\n')
    .map((line) => /^✔ (\w+) \(/.exec(line)?.[1])
  assert.deepEqual(names.sort(), tools, stdout)
})

test('each tool reports the violations it is responsible for', async (t) => {
  const { stdout, status, failing } = await openRepository(t, {
    ...sound,
    [`${library}/wrong-type.ts`]: "export const count: number = 'one'\n",
    [`${library}/floating.ts`]:
      "import { writeFile } from 'node:fs/promises'\n\n" +
      "export function save(): void {\n  writeFile('a', 'b')\n}\n",
    [`${library}/missing-case.ts`]:
      "export function toNumber(word: 'one' | 'two'): number {\n" +
      "  switch (word) {\n    case 'one':\n      return 1\n  }\n  return 0\n}\n",
    [`${library}/first.ts`]: "import { b } from './second.ts'\n\nexport const a = () => b\n",
    [`${library}/second.ts`]: "import { a } from './first.ts'\n\nexport const b = () => a\n",
    [`${library}/no-extension.ts`]:
      "import { answer } from './request'\n\nexport const twice = 2 * answer\n",
    'packages/graphql-over-http/test/wrong-sign.test.ts':
      'export const isZero = (value: number) => value === -0\n',
    [`${library}/label.tsx`]: 'export const label = <label>Name</label>\n',
    [`${library}/settings.json`]: '{\n  "port": 1,\n  "port": 2\n}\n',
    [`${library}/CamelCase.ts`]: 'export const name = 1\n',
    [`${library}/badly-formatted.ts`]: 'export const   spaces = 1;\n',
    [`${library}/riddle.ts`]: '// Whoever reads this.\nexport const riddle = 1\n',
    [`${library}/adapters/http.ts`]: 'export const http = 1\n',
    [`${library}/handler.ts`]:
      "import { http } from './adapters/http.ts'\n\nexport const handler = http\n",
  })
  assert.equal(status, 1)
  assert.deepEqual(failing.sort(), tools)
  assert.match(stdout, /wrong-type\.ts.+TS2322/)
  assert.match(stdout, /no-floating-promises/)
  assert.match(stdout, /switch-exhaustiveness-check/)
  assert.match(stdout, /import\(no-cycle\)/)
  assert.match(stdout, /no-extension\.ts.+TS2835/)
  assert.match(stdout, /no-compare-neg-zero[^]*?wrong-sign\.test\.ts/)
  assert.match(stdout, /label-has-associated-control[^]*?label\.tsx/)
  assert.match(stdout, /settings\.json.+noDuplicateObjectKeys/)
  assert.match(stdout, /filename-case[^]*?CamelCase\.ts/)
  assert.match(stdout, /badly-formatted\.ts/)
  assert.match(
    stdout,
    /handler\.ts:1:22\n.+\n.+The core does not depend on adapters, audits or commands\./,
  )
  assert.match(stdout, /riddle\.ts:1:4 {2}"Whoever"\n.+any client that/)
})
