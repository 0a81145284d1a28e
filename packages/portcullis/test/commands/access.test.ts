/** @slow */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Command } from '@portcullis/service-kit/cli/command'
import { clients } from '../../src/commands/access/clients.ts'
import { keys } from '../../src/commands/access/keys.ts'
import { providers } from '../../src/commands/access/providers.ts'
import { sso } from '../../src/commands/access/sso.ts'
import { users } from '../../src/commands/users/command.ts'
import { createAdminKeys, parseSecrets } from '../../src/up/secrets.ts'
import { grantAccess } from '../console/users-database.ts'
import { createAccessEnvironment, createSamlMetadata } from '../support/access-data.ts'
import { runCommand } from '../support/run-command.ts'
import { openWorld, type TestWorld } from '../support/world.ts'

/** What the page Access does, as commands. */
describe('the commands for access', () => {
  const place = mkdtempSync(join(tmpdir(), 'portcullis-access-'))
  let world: TestWorld
  let key = ''

  before(async () => {
    world = await openWorld(['--only', 'auth'], createAccessEnvironment())
    const secrets = parseSecrets(readFileSync(join(world.folder, 'secrets.json'), 'utf8'))
    key = await createAdminKeys(secrets?.jwtSecret ?? '')()
  })
  after(async () => {
    await world[Symbol.asyncDispose]()
    rmSync(place, { recursive: true, force: true })
  })

  const run = (command: Command, ...args: string[]) =>
    runCommand(command, [...args, '--data', world.folder])

  /** Runs a command that succeeds, and parses the lines of its output. */
  async function readJson(command: Command, ...args: string[]) {
    const { code, stdout, stderr } = await run(command, ...args, '--json')
    assert.equal(code, 0, stderr)
    return stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  }

  async function requestToken(id: string, secret: string): Promise<number> {
    const { status } = await fetch(`${world.baseUrls.auth}/oauth/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${id}:${secret}`)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    })
    return status
  }

  async function exchange(apiKey: string): Promise<number> {
    const { status } = await fetch(`${world.baseUrls.auth}/token?grant_type=api_key`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: apiKey }),
    })
    return status
  }

  test('a client is registered, gets tokens, gets a new secret and is deleted', async () => {
    const created = await run(clients, 'create', 'Nightly', '--grant', 'client_credentials')
    assert.equal(created.code, 0, created.stderr)
    const [, id = ''] = /^client id +(\S+)$/m.exec(created.stdout) ?? []
    const [, secret = ''] = /^client secret +(\S+)$/m.exec(created.stdout) ?? []
    assert.match(created.stderr, /^The secret is not shown again\./)
    assert.equal(await requestToken(id, secret), 200)

    const [first] = await readJson(clients, 'rotate', 'Nightly', '--overlap', '1d')
    assert.deepEqual(
      [await requestToken(id, secret), await requestToken(id, first.client_secret)],
      [200, 200],
    )
    const [second] = await readJson(clients, 'rotate', id)
    assert.deepEqual(
      [await requestToken(id, first.client_secret), await requestToken(id, second.client_secret)],
      [401, 200],
    )
    const unasked = await run(clients, 'delete', 'Nightly')
    assert.equal(unasked.code, 1)
    assert.match(unasked.stderr, /^Nothing was changed: .* pass --yes\.\n$/)
    const deleted = await run(clients, 'delete', 'Nightly', '--yes')
    assert.equal(deleted.stdout, `Nightly (${id}) was deleted\n`)
    assert.equal(await requestToken(id, second.client_secret), 401)
  })

  test('clients are listed, shown and changed', async () => {
    const [made] = await readJson(
      ...([clients, 'create', 'Notes\u001b[2J', '--public', '--dpop'] as const),
      ...['--redirect-uri', 'com.example.notes://callback', '--redirect-uri', 'http://localhost/x'],
    )
    assert.equal(made.client_secret, undefined)
    assert.equal(made.dpop_bound_access_tokens, true)
    assert.equal(made.redirect_uris.length, 2)
    const listed = await run(clients, 'list', 'notes')
    assert.match(listed.stdout, /^ID +NAME +TYPE +GRANTS +CREATED \(UTC\)\n/)
    assert.match(listed.stdout, / public +authorization_code, refresh_token +\d{4}-/)
    assert.ok(!listed.stdout.includes('\u001b'))
    assert.equal((await run(clients, 'list', 'no such')).stderr, 'No clients match.\n')
    const [shown] = await readJson(clients, 'show', made.client_id)
    assert.equal(shown.client_id, made.client_id)
    const args = ['--name', 'Notes', '--grant', 'device_code', '--no-dpop', '--scope', 'email']
    const changed = await run(clients, 'update', made.client_id, ...args)
    assert.match(changed.stdout, /^name +Notes$/m)
    assert.match(changed.stdout, /^grants +device_code$/m)
    assert.match(changed.stdout, /^scopes +email$/m)
    assert.match(changed.stdout, /^DPoP +not required$/m)
    assert.match(changed.stdout, /^redirect URIs +com\.example\.notes:/m)
  })

  test('of two clients with the same name, the id has to be given', async () => {
    for (const _ of [1, 2]) await readJson(clients, 'create', 'Twice', '--redirect-uri', 'a://b')
    const { code, stderr } = await run(clients, 'delete', 'Twice', '--yes')
    assert.equal(code, 1)
    assert.match(stderr, /^There are 2 of the name Twice\. Pass one of the ids: \S{36}, \S{36}\n$/)
    const unknown = await run(clients, 'show', 'Thrice')
    assert.match(
      unknown.stderr,
      /^There is no OAuth client Thrice\. To list all: portcullis clients/,
    )
  })

  test('the server reports an invalid field', async () => {
    const { code, stderr } = await run(clients, 'create', 'x', '--redirect-uri', 'http://a.example')
    assert.equal(code, 1)
    assert.match(stderr, /status 400: invalid redirect_uri .* HTTP scheme only allowed/)
  })

  test('a service account gets a key, which is rotated and revoked', async () => {
    const made = await run(keys, 'create-account', 'Billing', '--role', 'biller', '--plan', 'pro')
    assert.match(made.stdout, /^Billing \(\S{36}\) was created\n$/)
    assert.match((await run(keys, 'accounts')).stdout, / Billing +biller +pro +\d{4}-/)
    const args = ['--account', 'Billing', '--scope', 'a:read a:write', '--expires', '30d']
    const created = await run(keys, 'create', 'Invoices', ...args)
    const [, text = ''] = /^key +(pck_\S+)$/m.exec(created.stdout) ?? []
    assert.equal(await exchange(text), 200)
    const [listed] = await readJson(keys, 'list', '--account', 'Billing')
    assert.deepEqual(listed.scopes, ['a:read', 'a:write'])
    const days = (Date.parse(listed.expires_at) - Date.now()) / 86_400_000
    assert.equal(Math.round(days), 30)
    assert.match(
      (await run(keys, 'list')).stdout,
      /Invoices +…\S+ +Billing +a:read a:write +\d{4}-/,
    )

    const [rotated] = await readJson(keys, 'rotate', 'Invoices', '--overlap', '1h')
    assert.deepEqual([await exchange(text), await exchange(rotated.api_key)], [200, 200])
    assert.match(
      (await run(keys, 'revoke', listed.id, '--yes')).stdout,
      /^Invoices \(\S{36}\) was revoked\n$/,
    )
    assert.equal((await exchange(rotated.api_key)) < 500, true)
    assert.notEqual(await exchange(rotated.api_key), 200)
    assert.equal((await run(keys, 'list')).stderr, 'There are no API keys.\n')
    assert.match((await run(keys, 'delete-account', 'Billing', '--yes')).stdout, / was deleted\n$/)
    assert.deepEqual(await readJson(keys, 'accounts'), [])
  })

  test('a key of a user expires after 90 days, unless it never does', async () => {
    await createUser('ada@access.example')
    const owner = ['--user', 'ada@access.example']
    const [usual] = await readJson(keys, 'create', 'Usual', ...owner)
    assert.equal(Math.round((Date.parse(usual.expires_at) - Date.now()) / 86_400_000), 90)
    const [endless] = await readJson(keys, 'create', 'Endless', ...owner, '--expires', 'never')
    assert.equal(endless.expires_at, null)
    const { stderr } = await run(keys, 'create', 'x', '--user', 'unknown@access.example')
    assert.match(stderr, /^There is no user unknown@access\.example\./)
  })

  test('a custom provider is added, disabled and deleted', async () => {
    const file = join(place, 'secret')
    writeFileSync(file, 'the secret of the client\n')
    const urls = ['authorization', 'token', 'userinfo'].flatMap((name) => [
      `--${name}-url`,
      `https://accounts.example.com/${name}`,
    ])
    const base = ['--client-id', 'portcullis', '--secret-file', file, '--scope', 'profile email']
    const created = await run(providers, 'create', 'custom:acme', ...base, ...urls)
    assert.equal(created.code, 0, created.stderr)
    assert.match(created.stdout, /^identifier +custom:acme$/m)
    assert.match(created.stdout, /^scopes +profile email$/m)
    assert.ok(!created.stdout.includes('the secret'))
    assert.equal((await run(providers, 'disable', 'acme')).stdout, 'custom:acme is disabled\n')
    assert.match((await run(providers, 'list')).stdout, /custom:acme +acme +oauth2 +disabled +\d/)
    assert.equal((await run(providers, 'enable', 'acme')).stdout, 'custom:acme is enabled\n')
    const [shown] = await readJson(providers, 'show', 'custom:acme')
    assert.equal(shown.userinfo_url, 'https://accounts.example.com/userinfo')
    const deleted = await run(providers, 'delete', 'custom:acme', '--yes')
    assert.equal(deleted.stdout, 'custom:acme was deleted\n')
    assert.equal((await run(providers, 'list')).stderr, 'There are no custom providers.\n')
  })

  test('a file that cannot be read is reported', async () => {
    const missing = join(place, 'missing')
    const args = ['--issuer', 'https://idp.example.com', '--client-id', 'x', '--secret-file']
    const { code, stderr } = await run(providers, 'create', 'custom:x', ...args, missing)
    assert.equal(code, 1)
    assert.match(stderr, /^--secret-file \S+missing cannot be read: .+\.\n$/)
    writeFileSync(join(place, 'empty'), '\n')
    const empty = await run(providers, 'create', 'custom:x', ...args, join(place, 'empty'))
    assert.match(empty.stderr, /^--secret-file \S+empty is empty\.\n$/)
  })

  test('an identity provider is added, disabled and deleted, with SCIM tokens', async () => {
    const file = join(place, 'metadata.xml')
    writeFileSync(file, createSamlMetadata('https://idp.company.example'))
    const domains = ['--domain', 'company.example', '--domain', 'company.example.org']
    const created = await run(sso, 'create', '--metadata-file', file, ...domains)
    assert.equal(created.code, 0, created.stderr)
    assert.match(created.stdout, /^domains +company\.example, company\.example\.org$/m)
    assert.match((await run(sso, 'disable', 'company.example')).stdout, /^state +disabled$/m)
    assert.match((await run(sso, 'enable', 'company.example.org')).stdout, /^state +enabled$/m)
    assert.match((await run(sso, 'list')).stdout, / https:\/\/idp\.company\.example +enabled /)
    const [token] = await readJson(sso, 'create-token', 'company.example')
    assert.match(token.token, /^scim_/)
    const listed = await readJson(sso, 'tokens', 'company.example')
    assert.deepEqual(
      listed.map(({ id }) => id),
      [token.id],
    )
    const revoke = ['revoke-token', 'company.example', token.id, '--yes']
    assert.equal((await run(sso, ...revoke)).stdout, `The SCIM token ${token.id} was revoked\n`)
    assert.match((await run(sso, ...revoke)).stderr, /^There is no SCIM token /)
    const [shown] = await readJson(sso, 'show', 'https://idp.company.example')
    const deleted = await run(sso, 'delete', shown.id, '--yes')
    assert.match(
      deleted.stdout,
      /^company\.example, company\.example\.org \(\S{36}\) was deleted\n$/,
    )
    assert.equal((await run(sso, 'list')).stderr, 'There are no identity providers.\n')
  })

  test('the grants of a user are listed and revoked', async () => {
    const id = await createUser('grace@access.example')
    const [photos] = await readJson(clients, 'create', 'Photos', '--redirect-uri', 'a://b')
    await grantAccess(world, id, photos.client_id)
    const { stdout } = await run(users, 'grants', 'grace@access.example')
    assert.match(stdout, /^CLIENT +NAME +SCOPES +GRANTED \(UTC\)\n\S{36} +Photos +email profile /)
    const gone = await run(users, 'revoke-grant', 'grace@access.example', 'Photos', '--yes')
    assert.match(gone.stdout, /^Photos no longer has access to grace@access\.example \(\S+\)\n$/)
    const none = await run(users, 'grants', 'grace@access.example')
    assert.deepEqual([none.code, none.stdout], [0, ''])
    assert.match(none.stderr, /^grace@access\.example \(\S+\) has not granted access to any/)
    const revoked = await run(users, 'revoke-grant', 'grace@access.example', 'Notes', '--yes')
    assert.equal(revoked.code, 1)
    assert.match(revoked.stderr, /has not granted access to Notes\. To list all: portcullis users/)
  })

  async function createUser(email: string): Promise<string> {
    const answer = await fetch(`${world.baseUrls.auth}/admin/users`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ email, email_confirm: true }),
    })
    assert.equal(answer.status, 200)
    return (await answer.json()).id
  }
})

const commands = { clients, keys, providers, sso } as const

for (const [name, args, reason] of [
  ['clients', ['create', 'x'], /^--redirect-uri is missing\. A client that does not sign users in/],
  ['clients', ['create', 'x', '--grant', 'magic'], /^--grant must be one of authorization_code, /],
  ['clients', ['update', 'x'], /^There is nothing to change: pass --name, /],
  ['clients', ['rotate', 'x', '--overlap', '31d'], /^--overlap must be a duration from 0 to 30d/],
  ['clients', ['list', '--public'], /^list has no option --public\.\n/],
  ['keys', ['create', 'x'], /^The owner is missing: pass --account ACCOUNT or --user USER\.\n/],
  [
    'keys',
    ['create', 'x', '--user', 'a', '--account', 'b'],
    /^Pass either --user or --account, not both\.\n/,
  ],
  [
    'keys',
    ['create', 'x', '--user', 'a', '--expires', 'soon'],
    /^--expires must be a duration such as 90d, or never, not "soon"\.\n/,
  ],
  ['keys', ['rotate', 'x', '--overlap', 'soon'], /^--overlap must be a duration from 0 to 30d, /],
  ['providers', ['create', 'custom:x'], /^--client-id is missing\.\n/],
  [
    'providers',
    ['create', 'custom:x', '--client-id', 'x', '--secret-file', 'y'],
    /^--issuer is missing\. For OAuth 2\.0 without OpenID Connect, pass /,
  ],
  [
    'providers',
    [
      ...['create', 'custom:x', '--client-id', 'x', '--secret-file', 'y'],
      ...['--token-url', 'https://a.example'],
    ],
    /^--authorization-url is missing\.\n/,
  ],
  [
    'sso',
    ['create'],
    /^The metadata is missing: pass --metadata-url URL or --metadata-file FILE\.\n/,
  ],
  [
    'sso',
    ['create', '--metadata-url', 'https://a.example', '--metadata-file', 'b'],
    /^Pass either --metadata-url or --metadata-file, not both\.\n/,
  ],
] as const) {
  test(`${name} ${args.join(' ')} reports the error`, async () => {
    const { code, stderr } = await runCommand(commands[name], args)
    assert.equal(code, 2)
    assert.match(stderr, reason)
    assert.ok(stderr.endsWith(`\nSee: portcullis ${name} --help\n`), stderr)
  })
}
