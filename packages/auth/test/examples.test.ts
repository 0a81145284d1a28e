/**
 * @servers postgres, chromium
 */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { parseEnv } from 'node:util'
import { findFreePort } from '@portcullis/test-servers'
import { parseConfig } from '../src/config/config.ts'
import { jwtSecret, openAuthServer } from './support/auth-server.ts'
import { openSharedBrowser } from './support/browser-site.ts'
import { launchExample, startExample } from './support/example-program.ts'
import { claimsOf } from './support/factors.ts'
import { toHookEnvironment } from './support/hooked-server.ts'
import { newEmail, password, send } from './support/http-client.ts'

const folder = join(import.meta.dirname, '../../../examples')

test('the example configurations are complete', () => {
  const databases = { 'auth/auth.env': 'auth', 'recipes/auth.env': 'recipes' }
  for (const [file, database] of Object.entries(databases)) {
    const { faults, config } = parseConfig(parseEnv(readFileSync(join(folder, file), 'utf8')))
    assert.deepEqual(faults, [], file)
    assert.equal(config.database.url, `embedded://.portcullis/${database}`)
  }
})

const audience = {
  AUTH_JWT_AUD: 'authenticated',
  AUTH_JWT_DEFAULT_GROUP_NAME: 'authenticated',
} as const

test('the Node app signs up, signs in and refreshes, and the API accepts its token', async (t) => {
  const server = await openAuthServer(t, { env: audience })
  if (!server) return
  const api = await startExample(t, 'auth/verify-jwt.ts', { AUTH_JWT_SECRET: jwtSecret })
  const email = newEmail()
  const child = launchExample(t, 'auth/node-app.ts', {
    AUTH_URL: server.url,
    API_URL: api,
    EMAIL: email,
  })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  assert.equal(code, 0)
  const lines = output.trimEnd().split('\n')
  assert.deepEqual(lines.slice(0, 4), [
    `Signed up ${email}`,
    'Signed in; the access token is valid for 3600 s',
    'Refreshed the session',
    'Hello, Ada',
  ])
  assert.equal(JSON.parse(lines[4]?.replace('The API says: ', '') ?? '').email, email)
})

test('the API refuses tokens that are missing, forged or expired', async (t) => {
  const server = await openAuthServer(t, { env: audience })
  if (!server) return
  const api = await startExample(t, 'auth/verify-jwt.ts', { AUTH_JWT_SECRET: jwtSecret })
  const body = { email: newEmail(), password }
  const { access_token: token } = (await send(server.url, '/signup', { body })).body
  assert.equal((await send(api, '/', { token })).status, 200)
  assert.equal((await send(api, '/')).status, 401)
  assert.equal((await send(api, '/', { token: `${token.slice(0, -5)}AAAAA` })).status, 401)
  const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${token.split('.')[1]}.`
  assert.equal((await send(api, '/', { token: unsigned })).status, 401)
  server.clock.aheadMs = -7_200_000
  const login = await send(server.url, '/token?grant_type=password', { body })
  const old = await send(api, '/', { token: login.body.access_token })
  assert.deepEqual([old.status, old.body.error], [401, 'expired_token'])
  const service = await send(api, '/', { token: server.serviceToken })
  assert.deepEqual([service.status, service.body.error], [401, 'missing_claim'])
})

test('the API keeps working while the auth server is down, and logs it', async (t) => {
  const api = await startExample(t, 'auth/verify-jwt.ts', {
    AUTH_URL: `http://127.0.0.1:${await findFreePort()}`,
  })
  const jwt = [{ alg: 'ES256', kid: 'any' }, { sub: 'another-user' }, {}]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  for (let times = 0; times < 2; times++) {
    const { status, body } = await send(api, '/', { token: jwt })
    assert.deepEqual([status, body.error], [503, 'auth_unavailable'])
  }
  assert.equal((await send(api, '/')).status, 401)
})

test('the API verifies tokens with the public keys of the server', async (t) => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = privateKey.export({ format: 'jwk' })
  const keys = [{ ...jwk, kid: 'first', alg: 'ES256', key_ops: ['sign', 'verify'] }]
  const server = await openAuthServer(t, {
    env: { ...audience, AUTH_JWT_KEYS: JSON.stringify(keys) },
  })
  if (!server) return
  const api = await startExample(t, 'auth/verify-jwt.ts', { AUTH_URL: server.url })
  const email = newEmail()
  const { access_token: token } = (await send(server.url, '/signup', { body: { email, password } }))
    .body
  const { status, body } = await send(api, '/', { token })
  assert.deepEqual([status, body.email], [200, email])
  assert.equal((await send(api, '/', { token: server.serviceToken })).status, 401)
})

test('the hook receiver refuses users, changes tokens and sends email', async (t) => {
  const port = await findFreePort()
  const child = launchExample(t, 'auth/hook-receiver.ts', { PORT: `${port}` })
  const output = child.stdout.setEncoding('utf8')
  assert.match((await once(output, 'data'))[0], /^Listening on/)
  const names = ['before-user-created', 'customize-access-token', 'send-email'] as const
  const secret = 'v1,whsec_b25seS1mb3ItdHJ5aW5nLXRoaXMtb3V0'
  const server = await openAuthServer(t, {
    env: {
      AUTH_MAILER_AUTOCONFIRM: 'false',
      ...toHookEnvironment(names, `http://localhost:${port}/`, secret),
    },
  })
  if (!server) return
  const blocked = await send(server.url, '/signup', {
    body: { email: 'mallory@blocked.example', password },
  })
  assert.deepEqual([blocked.status, blocked.body.msg], [403, 'Please use your address at work'])
  const email = newEmail()
  const sent = once(output, 'data')
  assert.equal((await send(server.url, '/signup', { body: { email, password } })).status, 200)
  const [line] = await sent
  const [, to, link = ''] = /^To (\S+), code \d{6}: (\S+)\n$/.exec(line) ?? []
  assert.equal(to, email)
  const { pathname, search } = new URL(link)
  const verified = await send(server.url, `${pathname}${search}`)
  const [, fragment = ''] = (verified.headers.get('location') ?? '').split('#')
  const token = new URLSearchParams(fragment).get('access_token') ?? ''
  assert.equal(claimsOf(token).plan, 'gold')
  const forged = await fetch(`http://localhost:${port}/`, {
    method: 'POST',
    body: '{"metadata":{"name":"send-email"}}',
  })
  assert.equal(forged.status, 401)
})

test('the page signs a user up, keeps the session, and signs out', async (t) => {
  const server = await openAuthServer(t)
  const chromium = server && (await openSharedBrowser(t))
  if (!chromium) return
  const app = await startExample(t, 'auth/browser-app.ts', { AUTH_URL: server.url })
  const page = await chromium.browser.newPage()
  t.after(() => page.close())
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  const untilShown = (words: string) => page.getByText(words).waitFor()
  const email = newEmail()
  await page.goto(app)
  await untilShown('Signed out')
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign up' }).click()
  await untilShown(`Signed in as ${email}`)
  await page.reload()
  await untilShown(`Signed in as ${email}`)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await untilShown('Signed out')
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill('wrong')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await untilShown('Invalid login credentials')
  assert.deepEqual(complaints, [])
})
