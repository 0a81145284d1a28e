/** @slow */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { openTerminal, runOnTerminal, runOrSkip } from '@portcullis/test-servers'
import { users } from '../../src/commands/users/command.ts'
import { createAdminKeys, parseSecrets } from '../../src/up/secrets.ts'
import { runPortcullis } from '../support/launch-up.ts'
import { noServer, runCommand } from '../support/run-command.ts'
import { openWorld, type TestWorld } from '../support/world.ts'

const runUsers = (args: readonly string[], env?: Readonly<Record<string, string>>) =>
  runCommand(users, args, env)

describe('portcullis users', () => {
  let world: TestWorld
  const ids = new Map<string, string>()
  let key = ''

  before(async () => {
    world = await openWorld(['--only', 'auth'])
    const secrets = parseSecrets(readFileSync(join(world.folder, 'secrets.json'), 'utf8'))
    key = await createAdminKeys(secrets?.jwtSecret ?? '')()
    for (const name of ['ada', 'grace', 'hedy']) {
      const answer = await fetch(`${world.baseUrls.auth}/admin/users`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          email: `${name}@users.example`,
          email_confirm: name !== 'hedy',
          user_metadata: { full_name: `${name}\u001b[2J` },
        }),
      })
      assert.equal(answer.status, 200)
      ids.set(name, (await answer.json()).id)
    }
  })
  after(() => world[Symbol.asyncDispose]())

  async function callAuth(path: string, body: unknown, token = key, method = 'POST') {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const init = { method, headers, body: JSON.stringify(body) }
    const answer = await fetch(`${world.baseUrls.auth}${path}`, init)
    assert.equal(answer.status, 200, path)
    const found: Readonly<Record<string, unknown>> = await answer.json()
    return found
  }

  const inFolder = (...args: string[]) => runUsers([...args, '--data', world.folder])

  test('find lists the newest users, and those that match', async () => {
    const all = await inFolder('find')
    assert.deepEqual([all.code, all.stderr], [0, ''])
    const [heading = '', ...lines] = all.stdout.trimEnd().split('\n')
    assert.match(heading, /^ID +ADDRESS +STATE +LAST SIGN-IN \(UTC\) +CREATED \(UTC\)$/)
    assert.deepEqual(
      lines.map((line) => line.split(/ {2,}/).slice(0, 3)),
      [
        [ids.get('hedy'), 'hedy@users.example', 'unconfirmed'],
        [ids.get('grace'), 'grace@users.example', 'confirmed'],
        [ids.get('ada'), 'ada@users.example', 'confirmed'],
      ],
    )
    const some = await inFolder('find', 'grace', '--json')
    assert.equal(JSON.parse(some.stdout).email, 'grace@users.example')
    const none = await inFolder('find', 'no-such-name')
    assert.deepEqual([none.code, none.stdout, none.stderr], [0, '', 'No users match.\n'])
  })

  test('find says that there are more users than the limit', async () => {
    const { stdout, stderr } = await inFolder('find', '--limit', '2', '--json')
    assert.equal(stdout.trim().split('\n').length, 2)
    assert.equal(stderr, 'There are more users. To list up to 1000, pass --limit.\n')
    for (const limit of ['3', '1000']) {
      const exact = await inFolder('find', '--limit', limit)
      assert.deepEqual([exact.code, exact.stderr], [0, ''])
    }
  })

  test('show prints a user by address or id, and no control characters', async () => {
    const byAddress = await inFolder('show', 'ADA@users.example')
    const byId = await inFolder('show', ids.get('ada') ?? '')
    assert.equal(byAddress.stdout, byId.stdout)
    assert.match(byId.stdout, /^email +ada@users\.example \(confirmed\)$/m)
    assert.match(byId.stdout, /^sessions +0$/m)
    assert.ok(!byId.stdout.includes('\u001b'))
    const { email, sessions } = JSON.parse(
      (await inFolder('show', 'ada@users.example', '--json')).stdout,
    )
    assert.deepEqual([email, sessions], ['ada@users.example', []])
  })

  test('an unknown user is reported, and part of an address is not enough', async () => {
    for (const name of ['ada', 'ada@users.exampl', '00000000-0000-4000-8000-000000000000']) {
      const { code, stderr } = await inFolder('show', name)
      assert.equal(code, 1)
      assert.match(stderr, new RegExp(`^There is no user ${name}\\. To search for`))
    }
  })

  test('ban and unban change the user', async () => {
    const banned = await inFolder('ban', 'grace@users.example', '24h')
    assert.match(banned.stdout, /^grace@users\.example \(\S+\) is banned until \d{4}-/)
    assert.match((await inFolder('find', 'grace')).stdout, / banned /)
    assert.match((await inFolder('show', 'grace@users.example')).stdout, /^state +banned until /m)
    const forever = await inFolder('ban', 'grace@users.example', 'forever', '--json')
    const years = (Date.parse(JSON.parse(forever.stdout).banned_until) - Date.now()) / 31_536e6
    assert.equal(Math.round(years), 100)
    const lifted = await inFolder('unban', ids.get('grace') ?? '')
    assert.match(lifted.stdout, /^grace@users\.example \(\S+\) is no longer banned\n$/)
    assert.doesNotMatch((await inFolder('find', 'grace')).stdout, / banned /)
  })

  test('delete asks on a terminal, and refuses without one', async (t) => {
    const { id } = await callAuth('/admin/users', { email: 'joan@users.example' })
    const words = ['users', 'delete', 'joan@users.example', '--data', world.folder]
    const piped = await runPortcullis(words, { env: noServer })
    assert.deepEqual([piped.code, piped.stdout], [1, ''])
    assert.match(piped.stderr, /^Nothing was changed: .* no terminal.* pass --yes\.\n$/)
    const main = join(import.meta.dirname, '../../src/main.ts')
    const answer = async (text: string) => {
      const env = { ...process.env, ...noServer }
      const terminal = openTerminal(process.execPath, [main, ...words], env)
      let output = ''
      let hasAnswered = false
      terminal.onOutput((printed) => {
        output += printed
        if (hasAnswered || !output.includes('[y/N]')) return
        hasAnswered = true
        terminal.write(text)
      })
      return { ...(await terminal.ended), output: () => output }
    }
    const refused = await runOrSkip(t, () => answer('\r'))
    if (!refused) return
    assert.equal(refused.code, 1)
    assert.match(refused.output(), /Delete joan@users\.example \(\S+\) and all their data\? This/)
    const interrupted = await answer('\x03')
    assert.equal(interrupted.code, 1)
    assert.match((await inFolder('find', 'joan')).stdout, /joan@users\.example/)
    const agreed = await answer('y\r')
    assert.equal(agreed.code, 0, agreed.output())
    assert.match((await inFolder('show', `${id}`)).stderr, /^There is no user/)
  })

  test('delete --soft keeps the id', async () => {
    const { id } = await callAuth('/admin/users', { email: 'mary@users.example' })
    const deleted = await inFolder('delete', `${id}`, '--soft', '--yes', '--json')
    assert.equal(JSON.parse(deleted.stdout).email, 'mary@users.example')
    const left = JSON.parse((await inFolder('show', `${id}`, '--json')).stdout)
    assert.ok(left.deleted_at)
    assert.doesNotMatch(JSON.stringify(left), /mary@/)
    await inFolder('delete', `${id}`, '--yes')
  })

  test('reset-factors removes every second factor, and none is not an error', async () => {
    const password = 'correct horse battery staple'
    const email = 'ada@users.example'
    await callAuth(`/admin/users/${ids.get('ada')}`, { password }, key, 'PUT')
    const { access_token: token } = await callAuth('/token?grant_type=password', {
      email,
      password,
    })
    for (const name of ['Phone', 'Tablet']) {
      await callAuth('/factors', { factor_type: 'totp', friendly_name: name }, `${token}`)
    }
    const { code, stdout } = await inFolder('reset-factors', email, '--yes')
    assert.equal(code, 0)
    assert.match(
      stdout,
      /^ada@users\.example \(\S+\) no longer has second factors: removed totp \(unv/,
    )
    const again = await inFolder('reset-factors', email, '--json')
    assert.deepEqual(JSON.parse(again.stdout), { id: ids.get('ada'), removed: [] })
    assert.match((await inFolder('reset-factors', email)).stdout, / has no second factors\n$/)
  })

  test('another server is used with its URL and a service key', async () => {
    const env = { PORTCULLIS_AUTH_URL: `${world.baseUrls.auth}/`, PORTCULLIS_AUTH_KEY: `${key}\n` }
    assert.equal(
      JSON.parse((await runUsers(['find', 'ada', '--json'], env)).stdout).email,
      'ada@users.example',
    )
    const url = ['--auth-url', world.baseUrls.auth]
    const noKey = await runUsers(['find', ...url])
    assert.equal(noKey.code, 1)
    assert.match(noKey.stderr, /needs a service key\. Set PORTCULLIS_AUTH_KEY/)
    const wrong = await runUsers(['find', ...url], { PORTCULLIS_AUTH_KEY: 'hunter2' })
    assert.match(wrong.stderr, /refused the key \(status 40\d\)\. Set PORTCULLIS_AUTH_KEY/)
    const broken = await runUsers(['find', ...url], { PORTCULLIS_AUTH_KEY: 'hunter2 hunter2' })
    assert.match(broken.stderr, /^PORTCULLIS_AUTH_KEY contains a space/)
    assert.ok(!`${wrong.stderr}${broken.stderr}`.includes('hunter2'))
  })

  test('a key of portcullis token works, and portcullis users finds the server in the folder', async () => {
    const minted = await runPortcullis(['token', '--role', 'service_role', '--data', world.folder])
    const env = { PORTCULLIS_AUTH_URL: world.baseUrls.auth, PORTCULLIS_AUTH_KEY: minted.stdout }
    assert.equal((await runUsers(['show', 'ada@users.example'], env)).code, 0)
  })

  test('export and import use the database of the running server', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'portcullis-users-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'users.jsonl')
    const common = ['--data', world.folder, '--json']
    const exported = await runPortcullis(['users', 'export', file, ...common])
    assert.deepEqual([exported.code, JSON.parse(exported.stdout)], [0, { file, users: 3 }])
    const lines = readFileSync(file, 'utf8').trim().split('\n')
    assert.ok(lines.some((line) => line.includes('ada@users.example')))
    writeFileSync(file, `${JSON.stringify({ email: 'rosalind@users.example' })}\n`)
    const args = ['users', 'import', file, ...common]
    const dry = await runPortcullis([...args, '--dry-run'])
    assert.equal(dry.code, 0, dry.stderr)
    assert.match((await inFolder('find', 'rosalind')).stderr, /^No users match/)
    const imported = await runPortcullis(args)
    assert.equal(imported.code, 0, imported.stderr)
    assert.match((await inFolder('find', 'rosalind')).stdout, /rosalind@users\.example/)
  })

  test('the table has colours on a terminal only', async (t) => {
    const main = join(import.meta.dirname, '../../src/main.ts')
    const words = [main, 'users', 'find', '--data', world.folder]
    const { CI: _, NO_COLOR: __, FORCE_COLOR: ___, ...inherited } = process.env
    const env = { ...inherited, ...noServer, TERM: 'xterm-256color' }
    const printed = await runOrSkip(t, () => runOnTerminal(process.execPath, words, env))
    if (!printed) return
    const escape = String.fromCharCode(27)
    assert.ok(printed.includes(`${escape}[1mID`), printed)
    const { stdout } = await promisify(execFile)(process.execPath, words, { env })
    assert.ok(!stdout.includes(escape))
  })
})

for (const [args, reason] of [
  [
    [],
    /^The verb is missing\. Verbs: find, show, ban, unban, delete, reset-factors, grants, revoke-grant, export, import\.\n/,
  ],
  [['fnd'], /^Unknown verb "fnd"\..* Did you mean find\?\n/],
  [['show'], /^Wrong number of arguments\. Usage: show USER/],
  [['ban', 'ada'], /^Wrong number of arguments\. Usage: ban USER DURATION\|forever/],
  [['ban', 'ada', 'soon'], /^DURATION must be a duration such as 24h, or forever, not "soon"\.\n/],
  [['find', '--limit', '0'], /^--limit must be a whole number from 1 to 1000, not "0"\.\n/],
  [['delete'], /^Wrong number of arguments\. Usage: delete USER/],
  [['ban', 'ada', '1h', '--yes'], /^ban has no option --yes\.\n/],
  [['export', 'a', '--auth-url', 'http://x'], /^export has no option --auth-url\.\n/],
  [['find', '--auth-key', 'k'], /^Unknown option --auth-key\.\n/],
] as const) {
  test(`users ${args.join(' ')} reports the error`, async () => {
    const { code, stderr } = await runUsers(args)
    assert.equal(code, 2)
    assert.match(stderr, reason)
    assert.match(stderr, /\nSee: portcullis users --help\n$/)
  })
}

test('without a server, the message says how to name one', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-users-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const { code, stderr } = await runPortcullis(['users', 'find'], { cwd: folder, env: noServer })
  assert.equal(code, 1)
  assert.match(stderr, /^No auth server was found\. Run this command in the folder/)
})

test('a URL that is not one is an invalid argument', async () => {
  const { code, stderr } = await runUsers(['find', '--auth-url', 'foo'])
  assert.deepEqual(
    [code, stderr],
    [2, '--auth-url must be a URL such as http://localhost:8081, not "foo".\n'],
  )
})

test('export and import refuse a folder that portcullis up does not use', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-users-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const verb of ['export', 'import']) {
    const { code, stderr } = await runUsers([verb, 'users.jsonl', '--data', folder], noServer)
    assert.equal(code, 1)
    assert.match(stderr, /^--data .*: the folder contains no valid secrets\.json\. Name the folder/)
  }
})

async function runAgainst(t: TestContext, status: number, body: string) {
  const server = createServer((_request, response) => response.writeHead(status).end(body))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as { port: number }
  const env = { PORTCULLIS_AUTH_URL: `http://127.0.0.1:${port}`, PORTCULLIS_AUTH_KEY: 'key' }
  return await runUsers(['find'], env)
}

test('a server that does not respond, or is not an auth server, is reported', async (t) => {
  const env = { PORTCULLIS_AUTH_URL: 'http://127.0.0.1:1', PORTCULLIS_AUTH_KEY: 'key' }
  assert.match((await runUsers(['find'], env)).stderr, /^The auth server does not respond at http/)
  assert.match(
    (await runAgainst(t, 200, '<html>')).stderr,
    /does not respond like an auth server \(status 200\)\. Check the URL/,
  )
  assert.match((await runAgainst(t, 404, '')).stderr, /^The server has no endpoint \/admin\/users/)
  assert.match((await runAgainst(t, 500, '{"msg":"Broken"}')).stderr, /status 500: Broken\n$/)
  const secret = { PORTCULLIS_AUTH_URL: 'http://ada:hunter2@x', PORTCULLIS_AUTH_KEY: 'key' }
  const refused = await runUsers(['find'], secret)
  assert.match(refused.stderr, /^PORTCULLIS_AUTH_URL must not contain a user name or password\.$/m)
  assert.ok(!refused.stderr.includes('hunter2'))
  const keyless = await runUsers(['find'], { PORTCULLIS_AUTH_URL: secret.PORTCULLIS_AUTH_URL })
  assert.equal(keyless.stderr, refused.stderr)
})
