import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createServer as createTcpServer, type Server as TcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { after, before, describe, type TestContext, test } from 'node:test'
import { parseEnv } from 'node:util'
import { SignJWT } from 'jose'
import { ask, type HttpAnswer, newEmail, password } from './support/http-client.ts'

const root = join(import.meta.dirname, '../../..')
const folder = join(root, 'examples/together')
const query = { query: '{ me { email } }' }

type Env = Readonly<Record<string, string>>

function launch(file: string, env: Env) {
  return spawn(process.execPath, [join(folder, file)], {
    cwd: root,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

function portOf(server: Server | TcpServer): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('There is no port')
  return address.port
}

/** Held all at once, so that they differ. */
async function findFreePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createTcpServer().listen(0))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map(portOf)
  await Promise.all(servers.map((server) => once(server.close(), 'close')))
  return ports
}

async function waitForOutput(child: ReturnType<typeof launch>, words: string): Promise<void> {
  let output = ''
  for await (const part of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    output += part
    if (output.includes(words)) return
  }
  assert.fail(`It ended before it said "${words}": ${output}`)
}

function assertRefused({ status, body, headers }: HttpAnswer, expected: 401 | 429): void {
  assert.equal(status, expected)
  assert.equal(headers.get('content-type'), 'application/graphql-response+json; charset=utf-8')
  const { errors, ...rest } = JSON.parse(body)
  assert.deepEqual(rest, {})
  assert.equal(errors.length, 1)
  assert.equal(typeof errors[0].message, 'string')
  assert.deepEqual(errors[0].extensions, { status: expected })
}

describe('the three together', () => {
  const data = mkdtempSync(join(tmpdir(), 'together-'))
  let program: ReturnType<typeof launch>
  let api = ''
  let auth = ''

  before(async () => {
    const [port, authPort, ratelimitPort] = await findFreePorts(3)
    api = `http://localhost:${port}`
    auth = `http://localhost:${authPort}`
    program = launch('start.ts', {
      PORT: `${port}`,
      AUTH_PORT: `${authPort}`,
      RATELIMIT_PORT: `${ratelimitPort}`,
      // Tests run on busy machines.
      RATELIMIT_TIMEOUT_MS: '30000',
      DATABASE_URL: `embedded://${join(data, 'database')}`,
    })
    await waitForOutput(program, 'Ctrl-C stops it.')
  })

  after(async () => {
    if (program.exitCode === null) {
      program.kill('SIGINT')
      await once(program, 'exit')
    }
    rmSync(data, { recursive: true, force: true })
  })

  const send = (token?: string) =>
    ask(api, '/graphql', { body: query, ...(token !== undefined && { token }) })

  async function signUp(): Promise<{ readonly email: string; readonly token: string }> {
    const email = newEmail()
    const { status, body } = await ask(auth, '/signup', { body: { email, password } })
    assert.equal(status, 200)
    return { email, token: body.access_token }
  }

  /** A minute may end in between, and then there is room again. */
  async function sendUntilRefused(limit: number, token?: string): Promise<HttpAnswer> {
    for (let count = 0; count < 5 * limit; count++) {
      const answer = await send(token)
      if (answer.status !== 200) return answer
    }
    return assert.fail(`${5 * limit} requests were served`)
  }

  test('the client is served signed out and in, refused forged and too often; another is served', async () => {
    const child = launch('client.ts', { AUTH_URL: auth, API_URL: api })
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
    assert.equal(code, 0)
    const emails = [...output.matchAll(/signed up and in as (\S+)/g)].map(([, email]) => email)
    const [ada, bob] = emails
    const lines = output.trimEnd().split('\n')
    const [over = ''] = lines.splice(4, 1)
    assert.deepEqual(lines, [
      'signed out: {"me":null}',
      `ada signed up and in as ${ada}`,
      `ada: {"me":{"email":"${ada}"}}`,
      'forged: 401 The access token is not good (ERR_JWS_SIGNATURE_VERIFICATION_FAILED). Sign in again.',
      `bob signed up and in as ${bob}`,
      `bob: {"me":{"email":"${bob}"}}`,
    ])
    assert.match(
      over,
      /^ada, after \d+ more requests: 429 Too many requests\. Try again in \d+ s\.$/,
    )
  })

  test('whoever is signed in is told who they are, and how much room is left', async () => {
    const { email, token } = await signUp()
    const { status, body, headers } = await send(token)
    assert.deepEqual([status, body], [200, { data: { me: { email } } }])
    assert.equal(headers.get('ratelimit-limit'), '20')
    assert.match(headers.get('ratelimit-remaining') ?? '', /^\d+$/)
  })

  test('tokens that are forged, expired or for others are refused', async () => {
    const { AUTH_JWT_SECRET } = parseEnv(readFileSync(join(folder, 'auth.env'), 'utf8'))
    const sign = (audience: string, expiresAt: string, secret = AUTH_JWT_SECRET) =>
      new SignJWT({ email: 'ada@example.com' })
        .setProtectedHeader({ alg: 'HS256' })
        .setSubject('ada')
        .setAudience(audience)
        .setExpirationTime(expiresAt)
        .sign(new TextEncoder().encode(secret))
    const good = await sign('authenticated', '1h')
    assert.equal((await send(good)).status, 200)
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${good.split('.')[1]}.`
    for (const token of [
      await sign('authenticated', '1h', 'another secret of thirty-two bytes'),
      await sign('authenticated', '-1h'),
      await sign('others', '1h'),
      unsigned,
    ]) {
      const answer = await send(token)
      assertRefused(answer, 401)
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer error="invalid_token"')
    }
  })

  test('one user over the limit hears when to come back, others are served', async () => {
    const [eager, calm] = [await signUp(), await signUp()]
    const answer = await sendUntilRefused(20, eager.token)
    assertRefused(answer, 429)
    const seconds = Number(answer.headers.get('retry-after'))
    assert.ok(seconds >= 1 && seconds <= 60, `${seconds}`)
    assert.equal(answer.headers.get('ratelimit-remaining'), '0')
    assert.deepEqual((await send(calm.token)).body, { data: { me: { email: calm.email } } })
  })

  test('an address over the limit of those who are signed out does not touch its users', async () => {
    assertRefused(await sendUntilRefused(10), 429)
    const { email, token } = await signUp()
    assert.deepEqual((await send(token)).body, { data: { me: { email } } })
  })

  test('Ctrl-C ends all of them', async () => {
    program.kill('SIGINT')
    assert.deepEqual(await once(program, 'exit'), [0, null])
    for (const url of [`${api}/graphql`, `${auth}/health`]) await assert.rejects(fetch(url))
  })
})

async function openKeyServer(t: TestContext, jwk: object): Promise<string> {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [jwk] }))
  }).listen(0)
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://localhost:${portOf(server)}`
}

test('without a secret the API takes public keys, and without the service it has no limits', async (t) => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const authUrl = await openKeyServer(t, {
    ...publicKey.export({ format: 'jwk' }),
    kid: 'first',
    alg: 'ES256',
  })
  const [port, closedPort] = await findFreePorts(2)
  const child = spawn(process.execPath, [join(folder, 'api.ts')], {
    env: {
      PATH: process.env['PATH'],
      PORT: `${port}`,
      AUTH_URL: authUrl,
      RATELIMIT_URL: `http://localhost:${closedPort}`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  const complaint = once(child.stderr.setEncoding('utf8'), 'data')
  await once(child.stdout, 'data')
  const token = await new SignJWT({ email: 'ada@example.com' })
    .setProtectedHeader({ alg: 'ES256', kid: 'first' })
    .setSubject('ada')
    .setAudience('authenticated')
    .setExpirationTime('1h')
    .sign(privateKey)
  const { status, body } = await ask(`http://localhost:${port}`, '/graphql', { body: query, token })
  assert.deepEqual([status, body], [200, { data: { me: { email: 'ada@example.com' } } }])
  assert.match((await complaint)[0], /^The rate limit could not be checked/)
})
