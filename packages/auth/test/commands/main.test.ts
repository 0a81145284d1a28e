/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { chapters } from '../../src/config/config.ts'
import { runCommand } from '../support/auth-command.ts'
import { packageFolder, runAuth } from '../support/auth-program.ts'

const verbs = [
  'up',
  'serve',
  'migrate',
  'backup',
  'restore',
  'import',
  'export',
  'keys',
  'admin',
  'config',
  'redirect',
]

test('--version and version print the version of the package', async () => {
  const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8'))
  const expected = { code: 0, stdout: `${version}\n`, stderr: '' }
  assert.deepEqual(await Promise.all([runAuth(['--version']), runAuth(['version'])]), [
    expected,
    expected,
  ])
})

test('--help lists every command, and each command has its own help', async () => {
  const { code, stdout, stderr } = await runAuth(['--help'])
  assert.deepEqual([code, stderr], [0, ''])
  for (const name of verbs) assert.match(stdout, new RegExp(`^ {2}${name} +\\S`, 'm'))
  for (const name of verbs) {
    const help = await runCommand([name, '--help'])
    assert.deepEqual([help.code, help.stderr], [0, ''])
    assert.match(help.stdout, new RegExp(`^Usage: auth ${name}\\b`))
  }
})

test('up --help lists every variable', async () => {
  const { stdout } = await runCommand(['up', '--help'])
  for (const { variables } of Object.values(chapters)) {
    for (const { name } of Object.values(variables)) assert.ok(stdout.includes(name), name)
  }
})

test('an unknown command exits with code 2 and prints the available ones', async () => {
  const { code, stderr } = await runAuth(['sevre'])
  assert.equal(code, 2)
  assert.equal(
    stderr,
    `Unknown command "sevre". Commands: ${verbs.join(', ')}. Did you mean serve?\n`,
  )
})

test('an unknown option exits with code 2 and refers to the help without a stack trace', async () => {
  for (const ended of [runCommand(['migrate', '--force']), runAuth(['--force'])]) {
    const { code, stderr } = await ended
    assert.equal(code, 2)
    assert.match(stderr, /^Unknown option --force\.$/m)
    assert.match(stderr, /^See: auth (?:migrate|up) --help$/m)
    assert.doesNotMatch(stderr, /^\s+at /m)
  }
})

test('an unexpected argument exits with code 2 and refers to the help', async () => {
  for (const command of ['up', 'serve', 'migrate']) {
    const { code, stderr } = await runCommand([command, 'now'])
    assert.equal(code, 2)
    assert.match(stderr, /^Unexpected argument "now"\.$/m)
    assert.match(stderr, new RegExp(`^See: auth ${command} --help$`, 'm'))
  }
})

test('a closed output pipe is not an error', async () => {
  const child = spawn(process.execPath, [join(packageFolder, 'src/main.ts'), 'up', '--help'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.destroy()
  assert.equal(await text(child.stderr), '')
})
