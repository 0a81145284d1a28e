/** @slow */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { TOTP } from 'otpauth'
import { createAdminKeys, findSecrets } from '../../src/up/secrets.ts'
import { grantAccess } from '../console/users-database.ts'
import { createAccessEnvironment, createSamlMetadata } from '../support/access-data.ts'
import { type LaunchedUp, launchUp, runPortcullis } from '../support/launch-up.ts'
import { createBaseUrls } from '../support/world.ts'

const docs = join(import.meta.dirname, '../../../../docs/portcullis.md')
const password = 'correct horse battery staple'

interface Decision {
  readonly overallCode?: string
}

/** Each task of the table "Common tasks" is one command, in the folder where `up` was started. */
describe('common tasks in the terminal', () => {
  const place = mkdtempSync(join(tmpdir(), 'portcullis-tasks-'))
  const folder = join(place, '.portcullis')
  const noServer = { PORTCULLIS_AUTH_URL: '', PORTCULLIS_AUTH_KEY: '' }
  const ids = new Map<string, string>()
  const used = new Set<string>()
  let program: LaunchedUp
  let baseUrl: ReturnType<typeof createBaseUrls>
  let key = ''

  before(async () => {
    const env = createAccessEnvironment()
    program = launchUp(['--port-base', '0', '--no-console'], { cwd: place, env })
    await program.ready
    baseUrl = createBaseUrls(folder)
    key = await createAdminKeys(findSecrets(folder)?.jwtSecret ?? '')()
    for (const [index, name] of ['ada', 'grace', 'hedy'].entries()) {
      const user = { email: `${name}@tasks.example`, phone: `1555010${index}`, password }
      const { id } = await callAuth('/admin/users', {
        ...{ ...user, email_confirm: true, phone_confirm: true },
      })
      ids.set(name, `${id}`)
    }
  })
  after(async () => {
    await program.stop()
    rmSync(place, { recursive: true, force: true })
  })

  async function callAuth(path: string, body: unknown, token = key) {
    const answer = await fetch(`${baseUrl('auth')}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    })
    const found: Readonly<Record<string, unknown>> = await answer.json()
    return found
  }

  async function readAuth(path: string) {
    const headers = { authorization: `Bearer ${key}` }
    const answer = await fetch(`${baseUrl('auth')}${path}`, { headers })
    const body: unknown = await answer.json()
    return { status: answer.status, body }
  }

  /** Returns the access token, or the error code. */
  async function signIn(name: string, secret = password): Promise<string> {
    const body = { email: `${name}@tasks.example`, password: secret }
    const answer = await callAuth('/token?grant_type=password', body, 'anonymous')
    return `${answer['access_token'] ?? answer['error_code'] ?? answer['code']}`
  }

  async function countHits(tenant: string, hitsAddend: number): Promise<string> {
    const entries = [
      { key: 'tenant', value: tenant },
      { key: 'operation', value: 'export' },
    ]
    const body = JSON.stringify({ domain: 'api', descriptors: [{ entries }], hitsAddend })
    const answer = await fetch(`${baseUrl('ratelimit')}/json`, { method: 'POST', body })
    const { overallCode = '' }: Decision = await answer.json()
    return overallCode
  }

  /** Runs one command as a person would, and returns its output. */
  async function portcullis(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await runPortcullis(args, { cwd: place, env: noServer })
    assert.equal(code, 0, `portcullis ${args.join(' ')}: ${stdout}${stderr}`)
    remember(args)
    return stdout
  }

  function remember([command, verb]: readonly string[]): void {
    used.add(`portcullis ${command} ${verb}`)
  }

  test('find a user by part of an email address, a phone number or an id', async () => {
    for (const text of ['grac', '550101', ids.get('grace')?.slice(0, 8) ?? '']) {
      assert.match(await portcullis('users', 'find', text), /grace@tasks\.example/, text)
    }
    assert.doesNotMatch(await portcullis('users', 'find', 'grac'), /ada@/)
  })

  test('ban a user', async () => {
    assert.notEqual(await signIn('grace'), 'user_banned')
    await portcullis('users', 'ban', 'grace@tasks.example', '24h')
    assert.equal(await signIn('grace'), 'user_banned')
  })

  test('delete a user', async () => {
    await portcullis('users', 'delete', 'hedy@tasks.example', '--yes')
    assert.equal((await readAuth(`/admin/users/${ids.get('hedy')}`)).status, 404)
    assert.equal(await signIn('hedy'), 'invalid_credentials')
  })

  test('reset a second factor', async () => {
    const token = await signIn('ada')
    const enrolled = await callAuth('/factors', { factor_type: 'totp' }, token)
    const { secret } = enrolled['totp'] as { secret: string }
    const path = `/factors/${enrolled['id']}`
    const { id } = await callAuth(`${path}/challenge`, {}, token)
    const code = new TOTP({ secret }).generate()
    const verified = await callAuth(`${path}/verify`, { challenge_id: id, code }, token)
    assert.ok(verified['access_token'], JSON.stringify(verified))
    const factors = `/admin/users/${ids.get('ada')}/factors`
    assert.equal(((await readAuth(factors)).body as unknown[]).length, 1)
    await portcullis('users', 'reset-factors', 'ada@tasks.example', '--yes')
    assert.deepEqual((await readAuth(factors)).body, [])
  })

  test('find out why a sign-in failed', async () => {
    assert.equal(await signIn('ada', 'wrong password'), 'invalid_credentials')
    const command = ['events', 'tail', '--failed', '--user', 'ada@tasks.example', '--no-follow']
    let printed = ''
    // The server stores failed sign-ins after it has responded.
    while (printed === '') printed = await portcullis(...command)
    assert.match(printed, /ada@tasks\.example .*Failed to sign in: wrong password/)
  })

  test('see which key is limited most', async () => {
    assert.equal(await countHits('acme', 25), 'OVER_LIMIT')
    assert.equal(await countHits('umbrella', 22), 'OVER_LIMIT')
    const [titles, first, second] = (await portcullis('limits', 'top')).split('\n')
    assert.match(titles ?? '', /^OVER +HITS +LIMIT +KEY$/)
    assert.match(first ?? '', /^ *5 +25 +20 per day +api tenant=acme operation=export$/)
    assert.match(second ?? '', /^ *2 +22 +20 per day +api tenant=umbrella operation=export$/)
  })

  test('reset one counter', async () => {
    assert.equal(await countHits('acme', 1), 'OVER_LIMIT')
    await portcullis('limits', 'reset', 'api', 'tenant=acme', 'operation=export')
    assert.equal(await countHits('acme', 1), 'OK')
    assert.equal(await countHits('umbrella', 1), 'OVER_LIMIT')
  })

  test('change a limit, and see its effect', async () => {
    assert.equal(await countHits('globex', 5), 'OK')
    const printed = await portcullis('limits', 'set', 'api.tenant.operation_export', '3/day')
    assert.match(printed, /^The limit of api\.tenant\.operation_export is now 3 per day; it was 20/)
    assert.match(printed, /^Of the latest 6 requests, 1 would be decided differently: /m)
    assert.equal(await countHits('initech', 5), 'OVER_LIMIT')
  })

  test('send a test email', async () => {
    await portcullis('mail', 'test', 'operator@tasks.example')
    const [name, other] = readdirSync(join(folder, 'mailbox/new'))
    assert.equal(other, undefined)
    const message = readFileSync(join(folder, 'mailbox/new', name ?? ''), 'utf8')
    assert.match(message, /^To: operator@tasks\.example\r?$/m)
    assert.match(message, /^Subject: Confirm Your Signup\r?$/im)
  })

  test('audit a GraphQL server', async () => {
    const printed = await portcullis('graphql', 'audit', `${baseUrl('graphql')}/graphql`)
    assert.match(printed, /^61 of 61 audits pass/m)
  })

  test('export users', async () => {
    await portcullis('users', 'export', 'users.jsonl')
    const lines = readFileSync(join(place, 'users.jsonl'), 'utf8').trim().split('\n')
    const emails = lines.map((line) => JSON.parse(line).email)
    assert.deepEqual(emails.sort(), ['ada@tasks.example', 'grace@tasks.example'])
  })

  test('register an OAuth client', async () => {
    const uri = 'https://notes.example/callback'
    const printed = await portcullis('clients', 'create', 'Notes', '--redirect-uri', uri)
    assert.match(printed, /^client id +\S{36}\nclient secret +\S{20,}\n$/)
  })

  test('revoke what a user has granted to an application', async () => {
    const { body } = await readAuth('/admin/oauth/clients')
    const { clients } = body as { clients: readonly { client_id: string }[] }
    await grantAccess({ folder }, ids.get('ada') ?? '', clients[0]?.client_id ?? '')
    const grants = `/admin/users/${ids.get('ada')}/oauth/grants`
    assert.equal(((await readAuth(grants)).body as unknown[]).length, 1)
    await portcullis('users', 'revoke-grant', 'ada@tasks.example', 'Notes', '--yes')
    assert.deepEqual((await readAuth(grants)).body, [])
  })

  test('create an API key for a program', async () => {
    const printed = await portcullis('keys', 'create', 'nightly', '--user', 'ada@tasks.example')
    const [, api_key] = /^key +(pck_\S+)$/m.exec(printed) ?? []
    const answer = await callAuth('/token?grant_type=api_key', { api_key }, 'anonymous')
    assert.ok(answer['access_token'], JSON.stringify(answer))
  })

  test('let a company sign in with SAML', async () => {
    const file = join(place, 'metadata.xml')
    writeFileSync(file, createSamlMetadata('https://idp.company.example'))
    await portcullis('sso', 'create', '--metadata-file', file, '--domain', 'company.example')
    const { status, body } = await readAuth('/admin/sso/providers')
    assert.equal(status, 200)
    assert.match(JSON.stringify(body), /"domain":"company\.example"/)
  })

  test('watch what happens', async (t) => {
    const args = ['events', 'tail']
    const main = join(import.meta.dirname, '../../src/main.ts')
    const child = spawn(process.execPath, [main, ...args], {
      cwd: place,
      env: { ...process.env, ...noServer },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.after(() => child.kill('SIGKILL'))
    remember(args)
    let hasStarted = false
    let seen = ''
    for await (const line of createInterface({ input: child.stdout })) {
      // Stored events are printed first, so what is caused now happens after the start.
      if (!hasStarted) {
        hasStarted = true
        assert.equal(await signIn('unknown'), 'invalid_credentials')
      }
      if (!line.includes('unknown@tasks.example')) continue
      seen = line
      child.kill('SIGINT')
    }
    assert.match(seen, /unknown@tasks\.example .*Failed to sign in/)
    const [code] = child.exitCode === null ? await once(child, 'exit') : [child.exitCode]
    assert.equal(code, 0)
  })

  test('the documentation lists these commands', () => {
    const [, section = ''] = readFileSync(docs, 'utf8').split('\n### Common tasks\n')
    const rows = (section.split('\n#')[0] ?? '').split('\n').filter((line) => line.startsWith('| '))
    const listed = rows.slice(1).map((row) => /`(portcullis \S+ \S+)[^`]*` \|$/.exec(row)?.[1])
    assert.equal(listed.length, 16)
    assert.deepEqual(new Set(listed), used)
  })
})
