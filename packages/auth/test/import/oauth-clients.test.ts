/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { openAuthorizationServer } from '../support/authorization-server.ts'
import { claimsOf } from '../support/factors.ts'
import { openFlowServer } from '../support/flow-server.ts'
import { send } from '../support/http-client.ts'
import { openSource, sourceEnvironment } from '../support/supabase-source/open-source.ts'
import { sourcePassword } from '../support/supabase-source/people.ts'
import { runReport } from '../support/supabase-source/run-report.ts'
import { earlier } from '../support/supabase-source/source-writer.ts'

const secret = 'the secret of the client'
const secretHash = createHash('sha256').update(secret).digest('base64url')

test('OAuth clients of Supabase Auth keep their identifiers, secrets and settings', async (t) => {
  const server = await openFlowServer(t, {
    ...sourceEnvironment,
    AUTH_OAUTH_SERVER_ENABLED: 'true',
  })
  if (!server) return
  const source = await openSource(t, server.databaseUrl, '2.196')
  const add = async (values: Readonly<Record<string, unknown>>) => {
    const row = {
      id: randomUUID(),
      registration_type: 'manual',
      redirect_uris: 'https://app.example/back,app://back',
      grant_types: 'authorization_code,refresh_token',
      token_endpoint_auth_method: 'client_secret_post',
      client_secret_hash: secretHash,
      ...values,
    }
    const names = Object.keys(row)
    await source.client.query(
      `insert into oauth_clients (${names.join(', ')})
       values (${names.map((_, at) => `$${at + 1}`).join(', ')})`,
      Object.values(row),
    )
    return row.id
  }
  const notes = await add({ client_name: 'Notes', logo_uri: 'https://app.example/logo.png' })
  const mobile = await add({
    client_type: 'public',
    token_endpoint_auth_method: 'none',
    client_secret_hash: null,
  })
  const gone = await add({ deleted_at: new Date() })
  const broken = await add({ client_secret_hash: 'not a hash' })
  const run = async (...args: readonly string[]) => {
    const ended = await runReport(server, 'import', '--from', source.url, ...args)
    return { report: ended.report, table: ended.tableOf('oauth_clients') }
  }
  const read = async (id: string) =>
    send(server.url, `/admin/oauth/clients/${id}`, { token: server.serviceToken })
  const ask = async (client_secret: string) => {
    const form = {
      grant_type: 'refresh_token',
      refresh_token: 'x',
      client_id: notes,
      client_secret,
    }
    const { body } = await send(server.url, '/oauth/token', {
      body: `${new URLSearchParams(form)}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    return body.error
  }

  const dry = await run('--dry-run')
  const first = await run()
  for (const { table } of [dry, first]) {
    assert.deepEqual([table.inSource, table.added], [3, 2])
    assert.deepEqual(table.skipped['invalid secret'].examples, [broken])
  }
  assert.deepEqual(first.report.verification.differences, [])

  const { body } = await read(notes)
  assert.deepEqual(
    [body.client_id, body.client_type, body.client_name, body.logo_uri, body.redirect_uris],
    [
      notes,
      'confidential',
      'Notes',
      'https://app.example/logo.png',
      ['https://app.example/back', 'app://back'],
    ],
  )
  assert.deepEqual(body.grant_types, ['authorization_code', 'refresh_token'])
  assert.deepEqual([await ask(secret), await ask('wrong')], ['invalid_grant', 'invalid_client'])
  assert.equal((await read(mobile)).body.client_type, 'public')
  assert.equal((await read(gone)).status, 404)

  await source.client.query('update oauth_clients set deleted_at = now() where id = $1', [mobile])
  const { table } = await run('--since', first.report.snapshotAt)
  assert.equal(table.removed, 1)
  assert.equal((await read(mobile)).status, 404)
  assert.equal((await read(notes)).status, 200)
})

test('what users have granted to OAuth clients continues here, and returns with the export', async (t) => {
  const server = await openAuthorizationServer(t, sourceEnvironment)
  if (!server) return
  const source = await openSource(t, server.databaseUrl, '2.196')
  const { recent, ada, pat, tess } = await source.addPeople()
  assert.ok(recent)
  const { clientId, secret, consentId, tokens } = recent.client
  const client = { client_id: clientId, client_secret: secret }
  const { writer } = source
  const grant = async (user_id: string, row: Readonly<Record<string, unknown>> = {}) => {
    const id = randomUUID()
    const granted = { granted_at: earlier(60), scopes: 'email' }
    await writer.insert('oauth_consents', { id, user_id, client_id: clientId, ...granted, ...row })
    return id
  }
  await grant(ada.id, { revoked_at: earlier(30) })
  const patsGrant = await grant(pat.id)
  const tesssGrant = await grant(tess.id)
  const run = (...args: readonly string[]) => runReport(server, ...args)
  const importRows = (...args: readonly string[]) => run('import', '--from', source.url, ...args)
  const exportRows = (...args: readonly string[]) => run('export', '--to', source.url, ...args)
  const there = async () =>
    (
      await source.client.query(
        `select id, user_id, scopes, revoked_at is not null as "isRevoked" from oauth_consents
         order by granted_at, id`,
      )
    ).rows
  const signedIn = async (email: string, password = sourcePassword) => {
    const { body } = await server.post('/token?grant_type=password', { email, password })
    assert.ok(body.access_token, JSON.stringify(body))
    return { token: body.access_token as string }
  }

  const dry = await importRows('--dry-run')
  const first = await importRows()
  assert.deepEqual(dry.report.tables, first.report.tables)
  assert.deepEqual(first.report.verification.differences, [])
  assert.deepEqual(
    [first.tableOf('oauth_consents').inSource, first.tableOf('oauth_consents').added],
    [3, 3],
  )
  const before = await there()
  const unchanged = await exportRows()
  for (const name of ['oauth_clients', 'oauth_consents']) {
    assert.deepEqual([unchanged.tableOf(name).added, unchanged.tableOf(name).updated], [0, 0], name)
  }
  assert.deepEqual(await there(), before)

  await t.test('the session of a client continues with its scope', async () => {
    const [refresh_token = ''] = tokens
    const refreshed = await server.ask(client, '/oauth/token', {
      grant_type: 'refresh_token',
      refresh_token,
    })
    assert.equal(refreshed.status, 200, JSON.stringify(refreshed.body))
    assert.equal(refreshed.body.scope, 'email profile')
    assert.deepEqual(
      [claimsOf(refreshed.body.access_token).client_id, claimsOf(refreshed.body.access_token).sub],
      [clientId, recent.vera.id],
    )
    // The client alone can use the token, and not as a token of a user.
    const stolen = await server.post('/token?grant_type=refresh_token', {
      refresh_token: refreshed.body.refresh_token,
    })
    assert.equal(stolen.status, 400)
  })

  await t.test('users are not asked again', async () => {
    const started = await server.start(client, {
      redirect_uri: 'https://client.example/callback',
      scope: 'email',
    })
    const details = await server.details(await signedIn(pat.email), started.id)
    assert.ok(details.body.redirect_url, JSON.stringify(details.body))
  })

  await t.test('a user lists and revokes an imported grant', async () => {
    const { token } = await signedIn(recent.vera.email)
    const { body } = await send(server.url, '/user/oauth/grants', { token })
    assert.deepEqual([body[0].client.id, body[0].scopes], [clientId, ['email', 'profile']])
    const path = `/user/oauth/grants?client_id=${clientId}`
    assert.equal((await send(server.url, path, { method: 'DELETE', token })).status, 204)
  })

  // Ada grants here what she had revoked there; Pat's grant grows; Tess revokes hers there.
  const approve = async (email: string, scope: string) => {
    const redirect_uri = 'https://client.example/callback'
    await server.signIn(client, await signedIn(email), { redirect_uri, scope })
  }
  await approve('ada@source.example', 'email phone')
  await approve(pat.email, 'profile')
  await source.client.query('update oauth_consents set revoked_at = now() where id = $1', [
    tesssGrant,
  ])
  const own = await server.newClient({ scope: 'email' })
  const added = await server.newClient({ client_name: 'Added' })
  const dryExport = await exportRows('--dry-run')
  assert.deepEqual((await there()).map(({ id }) => id).sort(), before.map(({ id }) => id).sort())
  const exported = await exportRows()
  assert.deepEqual(dryExport.report.tables, exported.report.tables)
  const clients = exported.tableOf('oauth_clients')
  assert.deepEqual(clients.skipped['unsupported client'].examples, [own.client_id])
  const [row] = (
    await source.client.query('select * from oauth_clients where id = $1', [added.client_id])
  ).rows
  const hash = createHash('sha256')
    .update(added.client_secret ?? '')
    .digest('base64url')
  assert.deepEqual(
    [row.client_secret_hash, row.client_type, row.redirect_uris, row.client_name],
    [hash, 'confidential', 'https://client.example/callback', 'Added'],
  )
  const grants = await there()
  assert.ok(!grants.some(({ id }) => id === consentId))
  const scopesOf = (userId: string) =>
    grants.filter(({ user_id: id }) => id === userId).map(({ scopes }) => scopes.split(' ').sort())
  assert.deepEqual(scopesOf(ada.id), [['email', 'phone']])
  assert.deepEqual(scopesOf(pat.id), [['email', 'profile']])
  assert.deepEqual(
    grants.filter(({ isRevoked }) => isRevoked).map(({ id }) => id),
    [tesssGrant],
  )
  assert.equal(grants.find(({ user_id: id }) => id === pat.id).id, patsGrant)

  // The next import takes the grant that was revoked there.
  const later = await importRows('--since', first.report.snapshotAt)
  assert.equal(later.tableOf('oauth_consents').removed, 1)
  assert.deepEqual(later.report.verification.differences, [])
})
