import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { toMarkdown } from '@portcullis/service-kit/settings/settings-help'
import { chapters } from '../src/config/config.ts'
import { errorStatuses } from '../src/errors.ts'
import { endpoints } from '../src/features/index.ts'
import { toApiPage } from './support/api-page.ts'
import { runCommand } from './support/auth-command.ts'
import { errorMeanings } from './support/error-meanings.ts'

const root = join(import.meta.dirname, '../../..')
const pages = [
  'auth.md',
  'auth-oauth-server.md',
  'auth-sign-in.md',
  'auth-operations.md',
  'production.md',
]
const manual = pages.map((page) => readFileSync(join(root, 'docs', page), 'utf8')).join('\n')

/** Compares a page with the text generated from the code, or writes it if UPDATE_DOCS is set. */
function checkPage(name: string, expected: string): void {
  const path = join(root, 'docs', name)
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(path, expected)
  assert.equal(readFileSync(path, 'utf8'), expected, `docs/${name} is out of date`)
}

test('the page of environment variables matches the code', () => {
  checkPage(
    'auth-environment.md',
    `# Environment of the auth server

Generated from the code by \`UPDATE_DOCS=1 npm test -- packages/auth/test/docs.test.ts\`. Durations are
written as in Go: \`300ms\`, \`1.5h\`, \`2h45m\`. Variables can also be set in a file \`.env\`, in another file
(\`--config FILE\`), and in all files \`*.env\` of a folder (\`--config-dir DIR\`). The environment overrides
these files. If a variable has several names, the first one that is set is used.

${toMarkdown(chapters, 2)}`,
  )
})

test('the page of endpoints and errors matches the code', () => {
  checkPage('auth-api.md', toApiPage())
})

test('every error code has a meaning, and every meaning has an error code', () => {
  assert.deepEqual(Object.keys(errorMeanings).toSorted(), Object.keys(errorStatuses).toSorted())
})

test('every variable, endpoint, error code and file named in the manual exists', () => {
  const variables = new Set(
    Object.values(chapters).flatMap((chapter) =>
      Object.values(chapter.variables).flatMap(({ name, aliases }) => [name, ...aliases]),
    ),
  )
  const named = [...manual.matchAll(/`((?:AUTH|GOTRUE)_[A-Z0-9_<>]+)(?:=[^`]*)?`/g)]
  assert.ok(named.length > 20)
  for (const [, name = ''] of named) {
    // A placeholder stands for a part of several names: AUTH_EXTERNAL_<PROVIDER>_ENABLED.
    const pattern = new RegExp(`^${name.replace(/<[A-Z]+>/, '[A-Z0-9_]+')}$`)
    const isVariable = [...variables].some((variable) => pattern.test(variable))
    assert.ok(isVariable, `${name} is not a variable`)
  }

  const routes = new Set(endpoints.map(({ method, path }) => `${method} ${path}`))
  const called = [...manual.matchAll(/`(GET|POST|PUT|DELETE) (\/[\w/.{}:-]*)/g)]
  assert.ok(called.length > 10)
  for (const [, method, path = ''] of called) {
    const route = `${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`
    assert.ok(routes.has(route), `${route} is not an endpoint`)
  }

  for (const [, code = ''] of manual.matchAll(/\d{3} `([a-z_]+)`/g)) {
    assert.ok(Object.hasOwn(errorStatuses, code), `${code} is not an error code`)
  }
  for (const [, link = ''] of manual.matchAll(/\]\((?!https:)([^)#]+)/g)) {
    assert.ok(existsSync(join(root, 'docs', link)), `${link} does not exist`)
  }
})

test('every command in the manual is accepted by the program', async () => {
  const lines = [...manual.matchAll(/^npm run auth -- ([a-z]+)/gm)].map(([, name = '']) => name)
  assert.ok(lines.length > 4)
  for (const name of new Set(lines)) {
    const { code } = await runCommand([name, '--help'])
    assert.equal(code, 0, name)
  }
})

test('the configuration at the top of the manual is complete', async () => {
  const [, block = ''] = /```dotenv\n(.*?)```/s.exec(manual) ?? []
  const env = Object.fromEntries(
    block
      .trim()
      .split('\n')
      .map((line) => line.split(/=(.*)/s).slice(0, 2)),
  )
  const { code, stdout, stderr } = await runCommand(['config', 'check'], { env })
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(stdout, /The configuration is valid/)
})
