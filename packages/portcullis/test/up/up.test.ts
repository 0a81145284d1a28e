import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { withCurlOnPath } from '@portcullis/test-servers'
import { createRemoteJWKSet, jwtVerify, SignJWT } from 'jose'
import { type FolderUser, lockFile } from '../../src/up/data-folder.ts'
import { parseSecrets } from '../../src/up/secrets.ts'
import { type LaunchedUp, launchUp, runPortcullis } from '../support/launch-up.ts'
import { findFamily, waitUntilExited } from '../support/processes.ts'
import { createBaseUrls } from '../support/world.ts'

const run = promisify(execFile)
// Long, because it only has to end tests that hang.
const timeout = 600_000
const example = join(import.meta.dirname, '../../../../examples/together')

/** Printed by the API if the rate limit service took longer than a second, on a busy machine. */
const tooLate = /^The rate limit could not be checked: .*timeout\n/gm

/** Repeats the request, because the API fails open if the rate limit service takes longer than a second. */
async function sendUntilRefused(send: () => Promise<Response>): Promise<Response> {
  for (let count = 0; count < 200; count++) {
    const answer = await send()
    if (answer.status === 429) return answer
    await answer.text()
  }
  return assert.fail('No request was refused')
}

/** Creates an API key of a service account, and an access token of the key. */
async function openKey(authUrl: string, adminKey: string, plan?: string) {
  const post = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' }
    const answer = await fetch(authUrl + path, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    assert.ok(answer.ok, `${answer.status}`)
    return await answer.json()
  }
  const { id } = await post('/admin/service-accounts', { name: 'program' })
  const { api_key } = await post('/admin/api-keys', { service_account_id: id, name: 'key', plan })
  const { access_token } = await post('/token?grant_type=api_key', { api_key })
  return { key: String(api_key), token: String(access_token) }
}

// All tests share one start, followed by a second one on the same folder.
describe('portcullis up', { timeout }, () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'up-')), '.portcullis')
  let program: LaunchedUp
  let urls: ReturnType<typeof createBaseUrls>
  /** The token of a user who signed up during the first start. */
  let token = ''

  const start = async (...args: string[]) => {
    program = launchUp(['--data', folder, '--port-base', '0', ...args])
    await program.ready
    urls = createBaseUrls(folder)
  }
  const send = (query: string, bearer?: string) =>
    fetch(`${urls('graphql')}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
      },
      body: JSON.stringify({ query }),
    })
  const signIn = async (): Promise<string> => {
    const answer = await fetch(`${urls('auth')}/signup`, { method: 'POST', body: '{}' })
    assert.equal(answer.status, 200)
    return (await answer.json()).access_token
  }

  const mintAdminKey = async () => {
    const args = ['token', '--role', 'service_role', '--data', folder]
    return (await runPortcullis(args)).stdout.trim()
  }

  // Another name of this machine, to distinguish it from the default.
  const publicUrl = 'http://127.0.0.1'

  before(() => start('--no-console', '--public-url', publicUrl))
  after(async () => {
    await program.stop()
    rmSync(join(folder, '..'), { recursive: true, force: true })
  })

  test('an audit of the local API passes, and is not counted by its limits', async () => {
    const args = ['graphql', 'audit', `${urls('graphql')}/graphql`]
    const { code, stdout, stderr } = await runPortcullis(args, { cwd: join(folder, '..') })
    assert.equal(code, 0, stdout + stderr)
    assert.match(stdout, /^61 of 61 audits pass$/m)
  })

  test('it prints all addresses without colours in a pipe, and no console with --no-console', () => {
    const port = (name: Parameters<typeof urls>[0]) => new URL(urls(name)).port
    const output = program.output()
    assert.match(output, /^\nPortcullis \d+\.\d+\.\d+ is up\n/)
    assert.ok(output.includes(`  GraphQL API  ${publicUrl}:${port('graphql')}/graphql\n`))
    assert.ok(output.includes(`  Auth         ${publicUrl}:${port('auth')}\n`))
    assert.ok(output.includes(`  Rate limits  ${publicUrl}:${port('ratelimit')}/json\n`))
    assert.ok(output.includes(`SMTP 127.0.0.1:${port('smtp')}, SMS ${publicUrl}:${port('sms')}`))
    assert.doesNotMatch(output, /Console|token/)
    assert.ok(!output.includes('\x1b'))
  })

  test('the three suggested commands work', async () => {
    const commands = program.output().match(/^ {2}curl .*$/gm) ?? []
    const answers: unknown[] = []
    const env = { ...process.env, PATH: await withCurlOnPath() }
    for (const command of commands) {
      const script = command.replace('curl', 'curl -sS --fail')
      const { stdout } = await run('sh', ['-c', script], { env })
      answers.push(JSON.parse(stdout))
    }
    const [hello, signedUp, decision, ...more] = answers
    assert.deepEqual(hello, { data: { hello: 'Hello, stranger!' } })
    assert.partialDeepStrictEqual(signedUp, { email: 'me@example.com' })
    assert.partialDeepStrictEqual(decision, { overallCode: 'OK' })
    assert.deepEqual(more, [])
  })

  test('links in emails use the public URL', async () => {
    const box = join(folder, 'mailbox/new')
    while (readdirSync(box).length === 0) await sleep(20)
    const [name = ''] = readdirSync(box)
    const mail = readFileSync(join(box, name), 'utf8').replaceAll('=\r\n', '')
    assert.ok(mail.includes(`${publicUrl}:${new URL(urls('auth')).port}/verify`), mail)
  })

  test('auth admin finds the server, and reports what it needs if there is none', async () => {
    const args = ['auth', 'admin', 'listusers']
    const found = await runPortcullis(args, { cwd: join(folder, '..') })
    assert.deepEqual(
      [found.code, found.stderr],
      [0, 'Using the configuration of portcullis up (.portcullis/auth.env).\n'],
    )
    assert.match(found.stdout, /me@example\.com/)
    const { code, stderr } = await runPortcullis(args, { cwd: tmpdir() })
    assert.equal(code, 2)
    assert.match(
      stderr,
      /AUTH_DB_DATABASE_URL.*This command needs the configuration .* --config FILE/s,
    )
  })

  test('only this machine can reach the servers', async () => {
    const { ports = {} }: FolderUser = JSON.parse(readFileSync(join(folder, lockFile), 'utf8'))
    const others = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter(({ internal, family }) => !internal && family === 'IPv4')
    for (const port of Object.values(ports)) {
      assert.equal(await canConnect('127.0.0.1', port), true, `${port}`)
      for (const { address } of others) assert.equal(await canConnect(address, port), false)
    }
  })

  test('a second start on the same folder reports the running process', async () => {
    const { code, stderr } = await runPortcullis(['up', '--data', folder, '--port-base', '0'])
    assert.equal(code, 2)
    assert.ok(stderr.startsWith(`Process ${program.pid} is already using ${folder}`), stderr)
  })

  test('a request that auth refuses is printed in the terminal', async () => {
    const answer = await fetch(`${urls('auth')}/token?grant_type=password`, {
      method: 'POST',
      body: JSON.stringify({ email: 'me@example.com', password: 'a wrong guess' }),
    })
    assert.equal(answer.status, 400)
  })

  test('the API identifies the user, and returns the remaining limit', async () => {
    token = await signIn()
    const query = '{ me { id email } castles(country: "Wales") { name } }'
    let answer = await send(query, token)
    // On a busy machine the rate limit may not have been checked.
    while (!answer.headers.has('ratelimit-limit')) answer = await send(query, token)
    const { data } = await answer.json()
    const { sub } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    assert.deepEqual(data, {
      me: { id: sub, email: null },
      castles: [{ name: 'Caerphilly' }, { name: 'Harlech' }, { name: 'Conwy' }],
    })
    assert.equal(answer.headers.get('ratelimit-limit'), '20')
    assert.match(answer.headers.get('ratelimit-remaining') ?? '', /^\d+$/)
  })

  test('an application can sign users in with OpenID Connect', async () => {
    const created = await runPortcullis([
      ...['clients', 'create', 'Notes', '--redirect-uri', 'http://localhost/callback'],
      ...['--data', folder, '--json'],
    ])
    assert.equal(created.code, 0, created.stderr)
    const { client_id } = JSON.parse(created.stdout)
    const metadata = await fetch(`${urls('auth')}/.well-known/openid-configuration`)
    const { authorization_endpoint: endpoint, jwks_uri } = await metadata.json()
    const query = new URLSearchParams({
      ...{ client_id, response_type: 'code', scope: 'openid email', state: 'x' },
      redirect_uri: 'http://localhost/callback',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    })
    const asked = await fetch(`${endpoint}?${query}`, { redirect: 'manual' })
    assert.equal(asked.status, 302)
    assert.match(asked.headers.get('location') ?? '', /\/oauth\/consent\?authorization_id=/)
    const keys = createRemoteJWKSet(new URL(jwks_uri))
    const { protectedHeader } = await jwtVerify(await signIn(), keys)
    assert.equal(protectedHeader.alg, 'ES256')
  })

  test('the example client is served, refused with a forged token and over the limit; another is served', async () => {
    const { stdout } = await run(process.execPath, [join(example, 'client.ts')], {
      env: { ...process.env, AUTH_URL: urls('auth'), API_URL: urls('graphql') },
    })
    const [ada, bob] = [...stdout.matchAll(/is signed in as (\S+)/g)].map(([, id]) => id)
    const lines = stdout.trimEnd().split('\n')
    const [over = ''] = lines.splice(4, 1)
    assert.deepEqual(lines, [
      'signed out: {"me":null}',
      `ada is signed in as ${ada}`,
      `ada: {"me":{"id":"${ada}"}}`,
      'forged: 401 The access token was refused: The signature does not match the key of the auth server. Sign in again.',
      `bob is signed in as ${bob}`,
      `bob: {"me":{"id":"${bob}"}}`,
    ])
    assert.match(
      over,
      /^ada, after \d+ more requests: 429 Too many requests\. Try again in \d+ s\.$/,
    )
  })

  test('each API key has its own counter, and its plan decides on the limit', async () => {
    const adminKey = await mintAdminKey()
    const openToken = async (plan?: string) => (await openKey(urls('auth'), adminKey, plan)).token
    const sendCounted = async (bearer: string) => {
      let answer = await send('{ hello }', bearer)
      // On a busy machine the rate limit may not have been checked.
      while (!answer.headers.has('ratelimit-limit')) answer = await send('{ hello }', bearer)
      return answer
    }
    const findLimit = async (bearer: string) =>
      (await sendCounted(bearer)).headers.get('ratelimit-limit')
    const [plain, other] = [await openToken(), await openToken()]
    assert.equal(await findLimit(plain), '30')
    assert.equal(await findLimit(await openToken('pro')), '120')
    assert.equal(await findLimit(await openToken('a plan without a rule')), '30')
    await sendUntilRefused(() => send('{ hello }', plain))
    const served = await sendCounted(other)
    assert.equal(served.status, 200)
    assert.match(served.headers.get('ratelimit-remaining') ?? '', /^2\d$/)
  })

  test('the API accepts API keys as well, and counts a key and its tokens together', async () => {
    const { key, token: ofKey } = await openKey(urls('auth'), await mintAdminKey(), 'pro')
    const answer = await send('{ me { email } hello }', key)
    assert.deepEqual(await answer.json(), {
      data: { me: { email: null }, hello: 'Hello, stranger!' },
    })
    const refused = await sendUntilRefused(() => send('{ hello }', ofKey))
    await refused.text()
    const alsoRefused = await sendUntilRefused(() => send('{ hello }', key))
    assert.equal(alsoRefused.headers.get('ratelimit-limit'), '120')
    const invalid = await send('{ hello }', `${key.slice(0, -1)}-`)
    assert.equal(invalid.status, 401)
    assert.match(await invalid.text(), /The API key is not valid\./)
  })

  test('the example with API keys prints their limits', async () => {
    const { stdout } = await run(process.execPath, [join(example, 'keys.ts')], {
      env: {
        ...process.env,
        AUTH_URL: urls('auth'),
        API_URL: urls('graphql'),
        AUTH_ADMIN_KEY: await mintAdminKey(),
      },
    })
    // Without a number if the rate limit was not checked in time, on a busy machine.
    const patterns = [
      /^key without a plan: (30|null) requests a minute$/,
      /^first key of the plan pro: (120|null) requests a minute$/,
      /^first key, after \d+ more requests: 429 Too many requests\. Try again in \d+ s\.$/,
      /^second key of the plan pro: (120|null) requests a minute$/,
    ]
    const lines = stdout.trimEnd().split('\n')
    assert.equal(lines.length, patterns.length, stdout)
    for (const [index, pattern] of patterns.entries()) assert.match(lines[index] ?? '', pattern)
  })

  test('the API refuses the token of a user who has signed out', async () => {
    const signedOut = await signIn()
    assert.equal((await send('{ hello }', signedOut)).status, 200)
    await fetch(`${urls('auth')}/logout`, {
      method: 'POST',
      headers: { authorization: `Bearer ${signedOut}` },
    })
    let answer = await send('{ hello }', signedOut)
    while (answer.status === 200) answer = await send('{ hello }', signedOut)
    assert.equal(answer.status, 401)
    assert.match(await answer.text(), /The session of the token has ended/)
  })

  test('tokens that are forged, expired or for another audience are refused', async () => {
    const { jwtSecret = '' } =
      parseSecrets(readFileSync(join(folder, 'secrets.json'), 'utf8')) ?? {}
    const sign = (audience: string, expiresAt: string, secret = jwtSecret) =>
      new SignJWT({})
        .setProtectedHeader({ alg: 'HS256' })
        .setSubject('ada')
        .setAudience(audience)
        .setIssuedAt()
        .setExpirationTime(expiresAt)
        .sign(new TextEncoder().encode(secret))
    const good = await sign('authenticated', '1h')
    assert.deepEqual(await (await send('{ me { id } }', good)).json(), {
      data: { me: { id: 'ada' } },
    })
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${good.split('.')[1]}.`
    for (const bad of [
      await sign('authenticated', '1h', 'another secret of thirty-two bytes'),
      await sign('authenticated', '-1h'),
      await sign('others', '1h'),
      unsigned,
    ]) {
      const answer = await send('{ hello }', bad)
      assert.equal(answer.status, 401)
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer error="invalid_token"')
      assert.deepEqual((await answer.json()).errors[0].extensions, { status: 401 })
    }
  })

  test('a user over the limit gets retry-after; other users are served', async () => {
    const other = await signIn()
    const refused = await sendUntilRefused(() => send('{ hello }', token))
    const seconds = Number(refused.headers.get('retry-after'))
    assert.ok(seconds >= 1 && seconds <= 60, `${seconds}`)
    assert.equal(
      refused.headers.get('content-type'),
      'application/graphql-response+json; charset=utf-8',
    )
    assert.deepEqual((await refused.json()).errors[0].extensions, { status: 429 })
    await sendUntilRefused(() => send('{ hello }'))
    assert.equal((await send('{ hello }', other)).status, 200)
  })

  test('pressing Ctrl-C twice leaves no process running', async () => {
    const family = findFamily(program.pid)
    assert.ok(family.some(({ command }) => command.includes('postgres')))
    program.kill('SIGINT')
    program.kill('SIGINT')
    const { code, stderr } = await program.ended
    assert.ok(code === 0 || code === 130, `${code}`)
    assert.equal(
      stderr.replaceAll(tooLate, ''),
      'auth: POST /token was refused: 400, invalid_credentials, Invalid login credentials\n',
    )
    await waitUntilExited(family)
    assert.equal(existsSync(join(folder, lockFile)), false)
  })

  test('the next start keeps the users, and starts only the chosen parts', async () => {
    await start('--only', 'auth,graphql', '--host', '0.0.0.0')
    assert.match(program.output(), /WARNING: other machines can reach these servers/)
    const [, shown = ''] = /Auth +(\S+)/.exec(program.output()) ?? []
    assert.equal((await fetch(`${shown}/health`)).status, 200)
    const answer = await fetch(`${urls('auth')}/user`, {
      headers: { authorization: `Bearer ${token}` },
    })
    assert.equal(answer.status, 200)
    assert.equal((await answer.json()).is_anonymous, true)
    const unlimited = await send('{ hello }')
    assert.equal(unlimited.headers.get('ratelimit-limit'), null)
    await unlimited.text()
    assert.doesNotMatch(program.output(), /Rate limits|Mailbox|Console/)
  })

  test('a part that ends unexpectedly is reported in one line, and stops the others', async () => {
    const family = findFamily(program.pid)
    const auth = family.find(({ command }) => command.includes('packages/auth/'))
    assert.ok(auth)
    process.kill(auth.pid, 'SIGKILL')
    const { code, stdout, stderr } = await program.ended
    assert.equal(code, 1)
    const log = join(folder, 'logs/auth.log')
    assert.equal(
      stderr,
      `Auth ended unexpectedly (signal SIGKILL; see ${log}). Stopping all other parts.\n`,
    )
    assert.match(stdout, /Stopped\.\n$/)
    await waitUntilExited(family)
  })
})

async function canConnect(host: string, port: number): Promise<boolean> {
  const socket = connect(port, host)
  return new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  }).finally(() => socket.destroy())
}
