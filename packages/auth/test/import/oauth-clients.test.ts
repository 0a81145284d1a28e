/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { openFlowServer } from '../support/flow-server.ts'
import { send } from '../support/http-client.ts'
import { openSource, sourceEnvironment } from '../support/supabase-source/open-source.ts'
import { runReport } from '../support/supabase-source/run-report.ts'

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
