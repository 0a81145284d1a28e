/**
 * @servers postgres-embedded
 * @slow
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { runCommand } from '../support/auth-command.ts'
import { claimsOf, createApp, methodsOf } from '../support/factors.ts'
import { errorOf, type FlowServer, openFlowServer } from '../support/flow-server.ts'
import { send } from '../support/http-client.ts'
import { createPasskeyCalls, passkeyEnvironment } from '../support/passkeys.ts'
import {
  openSource,
  sourceEnvironment,
  toCommandEnvironment,
} from '../support/supabase-source/open-source.ts'
import { sourcePassword, totpSecret } from '../support/supabase-source/people.ts'
import type { SourceRelease } from '../support/supabase-source/schema.ts'
import { signToken } from '../support/supabase-source/tokens.ts'

const alreadyUsed = [400, 'refresh_token_already_used', 'Invalid Refresh Token: Already Used']
const notFound = [400, 'refresh_token_not_found', 'Invalid Refresh Token: Refresh Token Not Found']
const noSession = [400, 'session_not_found', 'Invalid Refresh Token: No Valid Session Found']

/** Opens a server, and imports users of every kind from Supabase Auth. */
async function move(t: TestContext, release: SourceRelease) {
  const server = await openFlowServer(t, { ...passkeyEnvironment, ...sourceEnvironment })
  if (!server) return undefined
  const source = await openSource(t, server.databaseUrl, release)
  const people = await source.addPeople()
  const ended = await runCommand(['import', '--from', source.url, '--json'], {
    env: toCommandEnvironment(server),
  })
  assert.equal(ended.code, 0, ended.stderr + ended.stdout)
  const report = JSON.parse(ended.stdout)
  const tableOf = (name: string) =>
    report.tables.find(({ table }: { table: string }) => table === name)
  return { server, source, people, report, tableOf, calls: toCalls(server) }
}

function toCalls(server: FlowServer) {
  return {
    signIn: (body: object) => server.post('/token?grant_type=password', body),
    refresh: (refresh_token: string | undefined) =>
      server.post('/token?grant_type=refresh_token', { refresh_token }),
    userOf: async (id: string) =>
      (await send(server.url, `/admin/users/${id}`, { token: server.serviceToken })).body,
  }
}

for (const release of ['2.150', '2.196'] as const) {
  test(`users of Supabase Auth ${release} continue here after the import`, async (t) => {
    const moved = await move(t, release)
    if (!moved) return
    const { server, people, report, tableOf, calls } = moved
    const { ada, pat, rae, cleo, fred, ben, tess } = people

    await t.test('the report counts every row', () => {
      const users = tableOf('users')
      assert.equal(users.added, users.inSource)
      assert.deepEqual([users.skipped, users.updated, users.removed], [{}, 0, 0])
      const { expired, 'no token': noToken } = tableOf('sessions').skipped
      assert.deepEqual(
        [expired.examples, noToken.examples],
        [[people.ended.expired], [people.ended.revoked]],
      )
      for (const name of ['sso_providers', 'custom_oauth_providers', 'oauth_consents']) {
        const { added = 0 } = tableOf(name) ?? {}
        assert.equal(added, name === 'sso_providers' || release === '2.196' ? 1 : 0, name)
      }
      assert.equal(report.notImported.saml_relay_states, 1)
      assert.equal(report.notImported.flow_state, 1)
      assert.equal(report.notImported.audit_log_entries, 1)
      assert.deepEqual(report.verification.differences, [])
      assert.ok(report.verification.sampled > 0)
    })

    await t.test('passwords in every format work', async () => {
      for (const { id, email } of [{ ...ada, email: 'ada@source.example' }, cleo, fred]) {
        const { status, body } = await calls.signIn({ email, password: sourcePassword })
        assert.equal(status, 200, JSON.stringify(body))
        assert.equal(body.user.id, id)
      }
      const { body } = await calls.signIn({ phone: ben.phone, password: sourcePassword })
      assert.equal(body.user.id, ben.id)
      const wrong = await calls.signIn({ email: cleo.email, password: 'wrong' })
      assert.equal(wrong.body.error_code ?? wrong.body.code, 'invalid_credentials')
    })

    await t.test('all columns of a user are kept', async () => {
      const user = await calls.userOf(ada.id)
      assert.deepEqual(user.user_metadata, {
        full_name: 'Ada "the first" \\ Lovelace\n',
        n: 1.5,
        tags: ['ä', '\t'],
      })
      assert.deepEqual(
        [user.email, user.phone, user.aud, user.role, user.new_email, user.is_anonymous],
        [
          'ada@source.example',
          '15550100001',
          'authenticated',
          'authenticated',
          'ada-new@source.example',
          false,
        ],
      )
      const [row] = await moved.source.client
        .query('select * from users where id = $1', [ada.id])
        .then(({ rows }) => rows)
      for (const name of ['created_at', 'email_confirmed_at', 'phone_confirmed_at', 'invited_at']) {
        assert.equal(Date.parse(user[name]), Date.parse(row[name]), name)
      }
      assert.equal(user.identities[0].identity_data.email, 'Ada@Source.example')
    })

    await t.test('bans, missing confirmations and deletions stay in force', async () => {
      const { banned, unconfirmed, gone } = people
      const password = sourcePassword
      assert.equal(errorOf(await calls.signIn({ email: banned.email, password }))[1], 'user_banned')
      assert.equal(errorOf(await calls.refresh(banned.tokens[0]))[1], 'user_banned')
      assert.equal(
        errorOf(await calls.signIn({ email: unconfirmed.email, password }))[1],
        'email_not_confirmed',
      )
      const [row] = await server.query('select deleted_at from users where id = $1', [gone.id])
      assert.ok(row.deleted_at)
    })

    await t.test(
      'a provider account keeps an address that differs from that of the user',
      async () => {
        const { gina } = people
        const { email, identities } = await calls.userOf(gina.id)
        assert.equal(email, 'gina@source.example')
        const [{ provider, identity_data: profile }, ...others] = identities
        assert.deepEqual([provider, profile.email, others], ['google', 'Gina@Other.example', []])
        const [row] = await server.query('select provider_id from identities where user_id = $1', [
          gina.id,
        ])
        assert.equal(row.provider_id, gina.providerId)
      },
    )

    await t.test(
      'a valid token is exchanged for one of this server, with one additional statement',
      async () => {
        server.takeStatements()
        const first = await calls.refresh(ada.tokens.at(-1))
        assert.equal(first.status, 200, JSON.stringify(first.body))
        assert.deepEqual(server.takeStatements(), ['find_imported_token', 'rotate_session'])
        const { session_id, sub } = claimsOf(first.body.access_token)
        assert.deepEqual([session_id, sub], [ada.sessionId, ada.id])
        assert.match(first.body.refresh_token, /^[\w-]{55}$/)
        // A client that has not received the response sends the same token again.
        const again = await calls.refresh(ada.tokens.at(-1))
        assert.equal(again.body.refresh_token, first.body.refresh_token)
        server.takeStatements()
        const next = await calls.refresh(first.body.refresh_token)
        assert.equal(next.status, 200)
        assert.deepEqual(server.takeStatements(), ['rotate_session'])
        // The imported token is now two rotations old.
        assert.deepEqual(errorOf(await calls.refresh(ada.tokens.at(-1))), alreadyUsed)
        assert.deepEqual(errorOf(await calls.refresh(next.body.refresh_token)), noSession)
      },
    )

    await t.test('the token before the valid one is accepted, as in the source', async () => {
      assert.equal((await calls.refresh(pat.tokens[0])).status, 200)
      assert.equal((await calls.refresh(pat.tokens[1])).status, 200)
    })

    await t.test('an older token ends the session', async () => {
      assert.deepEqual(errorOf(await calls.refresh(rae.tokens[1])), alreadyUsed)
      assert.deepEqual(errorOf(await calls.refresh(rae.tokens[3])), noSession)
    })

    await t.test('unknown tokens and those of ended sessions are refused', async () => {
      for (const token of ['abcdefghijkl', randomBytes(16).toString('base64url')]) {
        assert.deepEqual(errorOf(await calls.refresh(token)), notFound)
      }
      for (const token of people.ended.tokens) {
        assert.deepEqual(errorOf(await calls.refresh(token)), notFound)
      }
    })

    await t.test('an anonymous user stays signed in', async () => {
      const { body } = await calls.refresh(people.anonymous.tokens[0])
      assert.equal(claimsOf(body.access_token).is_anonymous, true)
      assert.equal(body.user.id, people.anonymous.id)
    })

    await t.test('a TOTP factor works, and a session keeps its level', async () => {
      const app = createApp(totpSecret, server.clock)
      const { body } = await calls.signIn({ email: tess.email, password: sourcePassword })
      const token = body.access_token as string
      assert.equal(claimsOf(token).aal, 'aal1')
      const factorCall = (path: string, sent: object) =>
        send(server.url, `/factors/${tess.factorId}/${path}`, { token, body: sent })
      const challenge = await factorCall('challenge', {})
      const sent = { challenge_id: challenge.body.id, code: app.nextCode() }
      const verified = await factorCall('verify', sent)
      assert.equal(verified.status, 200, JSON.stringify(verified.body))
      assert.equal(claimsOf(verified.body.access_token).aal, 'aal2')
    })

    if (people.recent !== undefined) await testRecent(t, server, people.recent)
  })
}

test('the token from before a second factor was verified does not lead to the verified session', async (t) => {
  const moved = await move(t, '2.196')
  if (!moved) return
  const { tess } = moved.people
  const { body } = await moved.calls.refresh(tess.tokens[1])
  assert.equal(claimsOf(body.access_token).aal, 'aal2')
  assert.deepEqual([...methodsOf(body.access_token)].sort(), ['password', 'totp'])
  const other = await move(t, '2.196')
  assert.ok(other)
  assert.deepEqual(errorOf(await other.calls.refresh(other.people.tess.tokens[0])), alreadyUsed)
})

type Recent = NonNullable<NonNullable<Awaited<ReturnType<typeof move>>>['people']['recent']>

async function testRecent(t: TestContext, server: FlowServer, recent: Recent) {
  const { vera, signed, parent, reused, upgraded } = recent
  const { refresh, signIn } = toCalls(server)

  await t.test('signed tokens are exchanged, and their counter continues', async () => {
    server.takeStatements()
    const { status, body } = await refresh(signed.token(5))
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(server.takeStatements(), ['find_imported_key', 'rotate_session'])
    assert.equal(claimsOf(body.access_token).session_id, signed.sessionId)
    assert.equal((await refresh(signed.token(5))).body.refresh_token, body.refresh_token)
    assert.equal((await refresh(body.refresh_token)).status, 200)
    assert.equal((await refresh(parent.token(299))).status, 200)
    assert.equal((await refresh(parent.token(300))).status, 200)
  })

  await t.test('an old signed token ends the session', async () => {
    assert.deepEqual(errorOf(await refresh(reused.token(3))), alreadyUsed)
    assert.deepEqual(errorOf(await refresh(reused.token(5))), noSession)
  })

  await t.test('a stored token from before the first signed one counts as its parent', async () => {
    assert.equal((await refresh(upgraded.stored[1])).status, 200)
    assert.equal((await refresh(upgraded.token(0))).status, 200)
    assert.deepEqual(errorOf(await refresh(upgraded.stored[0])), alreadyUsed)
  })

  await t.test('forged signed tokens are refused', async () => {
    const { sessionId } = parent
    assert.deepEqual(errorOf(await refresh(signToken(sessionId, 301, randomBytes(32)))), notFound)
    assert.deepEqual(errorOf(await refresh(signToken(sessionId, 2 ** 40, recent.key))), notFound)
    const damaged = parent.token(301).replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))
    assert.deepEqual(errorOf(await refresh(damaged)), notFound)
  })

  await t.test('phone and WebAuthn factors work', async () => {
    const { body } = await signIn({ email: vera.email, password: sourcePassword })
    const call = (token: string, factorId: string, path: string, sent: object) =>
      send(server.url, `/factors/${factorId}/${path}`, { token, body: sent })
    const token = body.access_token as string
    const challenged = await call(token, recent.phoneFactorId, 'challenge', {})
    assert.equal(challenged.status, 200, JSON.stringify(challenged.body))
    const [message] = await server.query(
      `select payload ->> 'Code' as code from outbox where recipient = '15550100009'`,
    )
    const code = message.code as string
    const sent = { challenge_id: challenged.body.id, code }
    const byPhone = await call(token, recent.phoneFactorId, 'verify', sent)
    assert.equal(claimsOf(byPhone.body.access_token).aal, 'aal2')
    const raised = byPhone.body.access_token as string
    const { body: challenge } = await call(raised, recent.webAuthnFactorId, 'challenge', {})
    const { type, credential_options: options } = challenge.webauthn
    assert.equal(type, 'request')
    const webauthn = { type, credential_response: recent.securityKey.get(options.publicKey) }
    const response = { challenge_id: challenge.id, webauthn }
    const byKey = await call(raised, recent.webAuthnFactorId, 'verify', response)
    assert.equal(byKey.status, 200, JSON.stringify(byKey.body))
    assert.ok(methodsOf(byKey.body.access_token).includes('mfa/webauthn'))
  })

  await t.test('a passkey signs in', async () => {
    const { status, body } = await createPasskeyCalls(server).signInWith(recent.passkeyHolder)
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal(body.user.id, vera.id)
  })
}
