import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { launchUp, runPortcullis } from '../support/launch-up.ts'

const timeout = 60_000
const folder = mkdtempSync(join(tmpdir(), 'up-refusals-'))
after(() => rmSync(folder, { recursive: true, force: true }))

async function occupyPort(t: TestContext, host = '127.0.0.1'): Promise<number> {
  const server = createServer().listen(0, host)
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  return port
}

test('each port in use is reported with its service and its option, and nothing is started', {
  timeout,
}, async (t) => {
  const [auth, sms] = [await occupyPort(t), await occupyPort(t)]
  const data = join(folder, "it's busy")
  const args = [
    '--data',
    data,
    '--port-base',
    '0',
    '--auth-port',
    `${auth}`,
    '--sms-port',
    `${sms}`,
  ]
  const { code, stdout, stderr } = await runPortcullis(['up', ...args])
  assert.deepEqual([code, stdout], [2, ''])
  const [first, second, third, , command = ''] = stderr.split('\n')
  assert.equal(first, `Port ${auth} (the auth server) is in use. Choose another with --auth-port.`)
  assert.equal(
    second,
    `Port ${sms} (the mailbox's SMS gateway) is in use. Choose another with --sms-port.`,
  )
  assert.equal(third, 'Nothing was started. These ports are free:')
  const quoted = `'${data.replace("'", "'\\''")}'`
  assert.equal(
    command.replaceAll(/(?<=-port )\d+/g, 'FREE'),
    `  portcullis up --data ${quoted} --port-base 0 --auth-port FREE --sms-port FREE`,
  )
  assert.equal(existsSync(data), false)
})

test('the suggested command begins as the user called it', { timeout }, async (t) => {
  const port = await occupyPort(t)
  const args = ['--data', join(folder, 'npm'), '--port-base', '0', '--console-port', `${port}`]
  const { stderr } = await runPortcullis(['up', ...args], { env: { npm_lifecycle_event: 'start' } })
  assert.match(stderr, /^ {2}npm start -- --data \S+ --port-base 0 --console-port \d+$/m)
})

test('an address of another machine is refused', { timeout }, async () => {
  const args = ['--data', join(folder, 'host'), '--port-base', '9000', '--host', '192.0.2.1']
  const { code, stderr } = await runPortcullis(['up', ...args])
  assert.equal(code, 2)
  assert.equal(stderr, '--host 192.0.2.1 is not an address of this machine. Nothing was started.\n')
})

test('invalid options are reported all at once, without a stack trace', { timeout }, async () => {
  const { code, stdout, stderr } = await runPortcullis(['up', '--only', 'mail', '--foo'])
  assert.deepEqual([code, stdout], [2, ''])
  assert.equal(
    stderr,
    `Unknown option --foo.
--only: unknown part "mail"; the parts are console, graphql, auth, ratelimit and mailbox. Did you mean mailbox?
See: portcullis up --help
`,
  )
})

test('if a part fails to start, its error is printed and the others stop', {
  timeout,
}, async () => {
  const data = join(folder, 'broken')
  const args = ['--data', data, '--port-base', '0', '--only', 'auth,ratelimit']
  const { code, stdout, stderr } = await runPortcullis(['up', ...args], {
    env: { AUTH_JWT_EXP: 'soon' },
  })
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(stderr, /^Auth failed to start: .*\n.*AUTH_JWT_EXP.*\nAll parts were stopped\.\n$/)
})

test('a rule file that cannot be loaded is reported, and everything starts normally', {
  timeout,
}, async () => {
  const data = join(folder, 'rules', '.portcullis')
  mkdirSync(join(data, 'rules'), { recursive: true })
  writeFileSync(join(data, 'rules', 'api.yaml'), 'domain: api\ndescriptors: [\n')
  const program = launchUp(['--data', data, '--port-base', '0', '--only', 'ratelimit'])
  await program.ready
  const { code, stderr } = await program.stop()
  assert.equal(code, 0)
  assert.match(stderr, /^ratelimit: .*api\.yaml: .*line 3, column 1.*\n$/)
})

test('damaged secrets are reported, not replaced', { timeout }, async () => {
  const data = join(folder, '.portcullis')
  mkdirSync(data)
  writeFileSync(join(data, 'secrets.json'), '{')
  const { code, stderr } = await runPortcullis(['up', '--data', data, '--port-base', '0'])
  assert.equal(code, 2)
  assert.match(stderr, /secrets\.json is damaged\..* --fresh/)
})

test('portcullis runs the commands of the other packages, with their help and exit codes', {
  timeout,
}, async () => {
  const [auth, ratelimit, graphql] = await Promise.all([
    runPortcullis(['auth', 'admin', '--help']),
    runPortcullis(['help', 'ratelimit', 'check']),
    runPortcullis(['graphql', 'audit', 'nowhere']),
  ])
  assert.deepEqual([auth.code, auth.stderr], [0, ''])
  assert.match(auth.stdout, /^Usage: portcullis auth admin/)
  assert.deepEqual([ratelimit.code, ratelimit.stderr], [0, ''])
  assert.match(ratelimit.stdout, /^Usage: portcullis ratelimit check/)
  assert.deepEqual([graphql.code, graphql.stdout], [2, ''])
  assert.match(graphql.stderr, /nowhere/)
})
