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

const verbs = ['up', 'serve', 'migrate', 'backup', 'restore', 'keys', 'admin', 'config', 'redirect']

test('--version and version are the version of the package', async () => {
  const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8'))
  const expected = { code: 0, stdout: `${version}\n`, stderr: '' }
  assert.deepEqual(await Promise.all([runAuth(['--version']), runAuth(['version'])]), [
    expected,
    expected,
  ])
})

test('--help names every command, and each command has a help of its own', async () => {
  const { code, stdout, stderr } = await runAuth(['--help'])
  assert.deepEqual([code, stderr], [0, ''])
  for (const name of verbs) assert.match(stdout, new RegExp(`^ {2}${name} +\\S`, 'm'))
  for (const name of verbs) {
    const help = await runCommand([name, '--help'])
    assert.deepEqual([help.code, help.stderr], [0, ''])
    assert.match(help.stdout, new RegExp(`^Usage: auth ${name}\\b`))
  }
})

test('up --help names every variable', async () => {
  const { stdout } = await runCommand(['up', '--help'])
  for (const { variables } of Object.values(chapters)) {
    for (const { name } of Object.values(variables)) assert.ok(stdout.includes(name), name)
  }
})

test('an unknown command ends with 2 and the names of those there are', async () => {
  const { code, stderr } = await runAuth(['sevre'])
  assert.equal(code, 2)
  assert.equal(
    stderr,
    `Unknown command "sevre". Commands: ${verbs.join(', ')}. Did you mean serve?\n`,
  )
})

test('an unknown option ends with 2 and the usage, and no stack trace', async () => {
  for (const ended of [runCommand(['migrate', '--force']), runAuth(['--force'])]) {
    const { code, stderr } = await ended
    assert.equal(code, 2)
    assert.match(stderr, /Unknown option '--force'/)
    assert.match(stderr, /^Usage: auth/m)
    assert.doesNotMatch(stderr, /^\s+at /m)
  }
})

test('a word that a command does not take ends with 2 and the usage', async () => {
  for (const command of ['up', 'serve', 'migrate']) {
    const { code, stderr } = await runCommand([command, 'now'])
    assert.equal(code, 2)
    assert.match(stderr, /Unexpected argument 'now'/)
    assert.match(stderr, new RegExp(`^Usage: auth ${command}`, 'm'))
  }
})

test('a reader that has seen enough is no failure', async () => {
  const child = spawn(process.execPath, [join(packageFolder, 'src/main.ts'), 'up', '--help'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.destroy()
  assert.equal(await text(child.stderr), '')
})
