/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from 'otpauth'
import { runCommand } from '../support/auth-command.ts'
import { createApp } from '../support/factors.ts'
import { openFlowServer } from '../support/flow-server.ts'
import { send } from '../support/http-client.ts'
import { passkeyEnvironment } from '../support/passkeys.ts'
import {
  openSource,
  sourceEnvironment,
  toCommandEnvironment,
} from '../support/supabase-source/open-source.ts'
import { sourcePassword, totpSecret } from '../support/supabase-source/people.ts'
import { runReport } from '../support/supabase-source/run-report.ts'

for (const release of ['2.150', '2.196'] as const) {
  test(`changes since the move are written back into Supabase Auth ${release}`, async (t) => {
    const server = await openFlowServer(t, { ...passkeyEnvironment, ...sourceEnvironment })
    if (!server) return
    const source = await openSource(t, server.databaseUrl, release)
    const { ada, cleo, fred, gina, tess, ...people } = await source.addPeople()
    const run = async (...args: readonly string[]) => (await runReport(server, ...args)).tableOf
    const there = async (text: string, values: readonly unknown[] = []) =>
      (await source.client.query(text, [...values])).rows
    const readUsers = () => there('select * from users order by id')
    const readFactors = () => there('select * from mfa_factors order by id')
    const [usersBefore, factorsBefore] = [await readUsers(), await readFactors()]
    await run('import', '--from', source.url)

    // Nothing has changed, so nothing is written.
    const unchanged = await run('export', '--to', source.url)
    assert.deepEqual(
      [unchanged('users').added, unchanged('users').updated, unchanged('users').removed],
      [0, 0, 0],
    )
    assert.deepEqual([await readUsers(), await readFactors()], [usersBefore, factorsBefore])

    const token = server.serviceToken
    const admin = (method: string, path: string, body?: object) =>
      send(server.url, `/admin/users${path}`, { method, token, ...(body && { body }) })
    await admin('PUT', `/${ada.id}`, { user_metadata: { moved: true }, password: 'new password' })
    await admin('DELETE', `/${cleo.id}`)
    await admin('PUT', `/${fred.id}`, { user_metadata: { here: true } })
    await there(
      `update users set raw_user_meta_data = '{"there": true}', updated_at = now() + interval '1 hour'
      where id = $1`,
      [fred.id],
    )
    const created = await admin('POST', '', {
      email: 'new@source.example',
      password: sourcePassword,
      email_confirm: true,
    })
    const { body } = await send(server.url, '/token?grant_type=password', {
      body: { email: 'new@source.example', password: sourcePassword },
    })
    const call = (path: string, sent: object) =>
      send(server.url, path, { token: body.access_token, body: sent })
    const { body: factor } = await call('/factors', { factor_type: 'totp' })
    const challenge = await call(`/factors/${factor.id}/challenge`, {})
    const app = createApp(factor.totp.secret, server.clock)
    const sent = { challenge_id: challenge.body.id, code: app.nextCode() }
    assert.equal((await call(`/factors/${factor.id}/verify`, sent)).status, 200)

    const before = await readUsers()
    const dry = await run('export', '--to', source.url, '--dry-run')
    assert.deepEqual(await readUsers(), before)
    const exported = await run('export', '--to', source.url)
    for (const tableOf of [dry, exported]) {
      assert.deepEqual([tableOf('users').added, tableOf('users').updated], [1, 1])
      assert.deepEqual(tableOf('users').skipped['changed there'].examples, [fred.id])
    }
    assert.equal(exported('users').removed, 1)

    const [adaThere] = await there('select * from users where id = $1', [ada.id])
    const [adaHere] = await server.query('select * from users where id = $1', [ada.id])
    assert.equal(adaThere.encrypted_password, adaHere.encrypted_password)
    assert.equal(adaThere.raw_user_meta_data.moved, true)
    assert.equal(adaThere.email_change, 'ada-new@source.example')
    assert.deepEqual(await there('select 1 from users where id = $1', [cleo.id]), [])
    const [{ data }] = await there('select raw_user_meta_data as data from users where id = $1', [
      fred.id,
    ])
    assert.deepEqual(data, { there: true })
    const [newThere] = await there('select * from users where id = $1', [created.body.id])
    // Supabase Auth cannot read null in these columns.
    for (const name of ['confirmation_token', 'recovery_token', 'email_change', 'phone_change']) {
      assert.equal(newThere[name], '', name)
    }
    assert.equal(newThere.instance_id, '00000000-0000-0000-0000-000000000000')
    const [written] = await there('select secret, status from mfa_factors where id = $1', [
      factor.id,
    ])
    assert.deepEqual(written, { secret: factor.totp.secret, status: 'verified' })
    const [kept] = await there('select secret from mfa_factors where id = $1', [tess.factorId])
    assert.ok(Secret.fromBase32(kept.secret).base32 === Secret.fromBase32(totpSecret).base32)
    const providers = await there('select provider from identities where user_id = $1', [gina.id])
    assert.deepEqual(providers, [{ provider: 'google' }])
    if (people.recent !== undefined) {
      const [key] = await there(
        'select web_authn_credential as value from mfa_factors where id = $1',
        [people.recent.webAuthnFactorId],
      )
      const earlier = factorsBefore.find(({ id }) => id === people.recent?.webAuthnFactorId)
      assert.deepEqual(key.value, earlier.web_authn_credential)
    }
    const again = await run('export', '--to', source.url)
    assert.deepEqual([again('users').added, again('users').updated], [0, 0])
  })
}

test('a WebAuthn factor that was changed here is written in the format of Supabase Auth', async (t) => {
  const server = await openFlowServer(t, { ...passkeyEnvironment, ...sourceEnvironment })
  if (!server) return
  const source = await openSource(t, server.databaseUrl, '2.196')
  const { recent } = await source.addPeople()
  assert.ok(recent)
  const env = toCommandEnvironment(server)
  assert.equal((await runCommand(['import', '--from', source.url], { env })).code, 0)
  await server.query(
    `update mfa_factors set web_authn_credential = jsonb_set(web_authn_credential, '{sign_count}', '9'),
       updated_at = now() where id = $1`,
    [recent.webAuthnFactorId],
  )
  const read = async () => {
    const { rows } = await source.client.query(
      'select web_authn_credential as value from mfa_factors where id = $1',
      [recent.webAuthnFactorId],
    )
    return rows[0].value
  }
  const before = await read()
  assert.equal((await runCommand(['export', '--to', source.url], { env })).code, 0)
  const { authenticator, ...others } = await read()
  const { authenticator: earlier, ...same } = before
  assert.deepEqual(others, same)
  assert.deepEqual(authenticator, { ...earlier, signCount: 9 })
})

test('export refuses invalid arguments and unknown targets', async (t) => {
  const neither = await runCommand(['export'])
  assert.equal(neither.code, 2)
  assert.match(neither.stderr, /^One of --to and --jsonl is required\./)
  const both = await runCommand(['export', '--jsonl', 'x', '--to', 'postgres://x@127.0.0.1:1/y'])
  assert.equal(both.code, 2)
  assert.match(both.stderr, /^Pass either --to or --jsonl, not both\./)
  const useless = await runCommand(['export', '--jsonl', 'x', '--dry-run'])
  assert.equal(useless.code, 2)
  assert.match(useless.stderr, /^--dry-run cannot be used with --jsonl\./)
  const server = await openFlowServer(t, sourceEnvironment)
  if (!server) return
  const env = toCommandEnvironment(server)
  const unreachable = await runCommand(['export', '--to', 'postgres://x@127.0.0.1:1/y'], { env })
  assert.equal(unreachable.code, 1)
  assert.match(
    unreachable.stderr,
    /^The export failed: .+ cannot be reached .+check the URL in --to/,
  )
  const variable = { AUTH_EXPORT_TO: 'postgres://x@127.0.0.1:1/y' }
  const { stderr } = await runCommand(['export'], { env: { ...env, ...variable } })
  assert.match(stderr, /^The export failed: .+ cannot be reached .+check the URL in AUTH_EXPORT_TO/)
})
