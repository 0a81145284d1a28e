import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { programEnvironment } from '@portcullis/test-servers'
import { chapters } from '../src/config/config.ts'

const packageFolder = join(import.meta.dirname, '..')

async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [join(packageFolder, 'src', 'main.ts'), ...args], {
    env: { ...programEnvironment, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<number | null>((done) => child.on('close', done))
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  return { code, stdout, stderr }
}

test('--version is the version of the package', async () => {
  const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8'))
  assert.deepEqual(await run(['--version']), { code: 0, stdout: `${version}\n`, stderr: '' })
})

test('--help lists every command', async () => {
  const { code, stdout, stderr } = await run(['--help'])
  assert.deepEqual([code, stderr], [0, ''])
  for (const name of ['serve', 'client', 'check', 'explain']) {
    assert.match(stdout, new RegExp(`^ {2}${name} +\\S`, 'm'))
  }
})

test('serve --help lists every variable, without colors', async () => {
  const { code, stdout } = await run(['serve', '--help'])
  assert.equal(code, 0)
  for (const { variables } of Object.values(chapters)) {
    for (const { name, aliases } of Object.values(variables)) {
      for (const each of [name, ...aliases]) assert.ok(stdout.includes(each), each)
    }
  }
  assert.ok(!stdout.includes('\x1b'))
})

test('serve exits with 2 and the full list of errors for an invalid environment, without a stack trace', async () => {
  const { code, stdout, stderr } = await run(['serve'], { GRPC_PORT: 'x', LOG_LEVEL: 'loud' })
  assert.deepEqual([code, stdout], [2, ''])
  assert.match(stderr, /GRPC_PORT="x": must be a whole number from 0 to 65535/)
  assert.match(stderr, /LOG_LEVEL="loud": Could not parse log level/)
  assert.doesNotMatch(stderr, /^\s+at /m)
})

for (const [args, fault] of [
  [['--nope'], 'Unknown option --nope.'],
  [['--rules'], '--rules needs a value.'],
  [['config'], 'Unexpected argument "config".'],
] as const) {
  test(`serve ${args.join(' ')} exits with 2 and reports the error`, async () => {
    assert.deepEqual(await run(['serve', ...args]), {
      code: 2,
      stdout: '',
      stderr: `${fault}\nSee: ratelimit serve --help\n`,
    })
  })
}

test('a reader that closes the pipe early causes no failure', async () => {
  const main = join(packageFolder, 'src', 'main.ts')
  const child = spawn(process.execPath, [main, 'serve', '--help'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.destroy()
  const stderr = await text(child.stderr)
  assert.equal(stderr, '')
})
