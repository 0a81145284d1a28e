/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from 'pg'
import { createRefreshTokens } from '../../src/features/sessions/refresh-tokens.ts'
import { createKeyRing, keyNames } from '../../src/tokens/key-ring.ts'
import { runCommand } from '../support/auth-command.ts'
import { openMigratedEnvironment } from '../support/auth-program.ts'
import { openAuthServer, testEnvironment } from '../support/auth-server.ts'
import { claimsOf, createFactorCalls, factorEnvironment } from '../support/factors.ts'
import { openFlowServer } from '../support/flow-server.ts'
import { send } from '../support/http-client.ts'
import { until } from '../support/outbox.ts'

const oldKey = 'the first key of thirty-two characters or more'
const newKey = 'the second key of thirty-two characters or more'

test('reading the database is not enough to make tokens (property 64)', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const calls = createFactorCalls(server)
  const { token, refreshToken } = await calls.newSignedInUser()
  const { session_id: sessionId } = claimsOf(token)
  const rows = await server.query('select name, value, wrapped_with from secret_keys')
  assert.deepEqual(new Set(rows.map(({ name }) => name)), new Set(keyNames))
  for (const { name, wrapped_with: fingerprint } of rows) assert.ok(fingerprint !== null, name)
  assert.deepEqual(await server.query('select from server_keys'), [])
  // Try every byte string in the table as a key: the ciphertext, and parts of it.
  for (const { value } of rows) {
    for (const key of [value, value.subarray(28), value.subarray(0, 32)]) {
      const forged = createRefreshTokens(createKeyRing(key)).encode({ sessionId, counter: 0 })
      const answer = await calls.refresh(forged)
      assert.deepEqual([answer.status, answer.body.error_code], [400, 'refresh_token_not_found'])
    }
  }
  assert.equal((await calls.refresh(refreshToken)).status, 200)
})

test('keys in AUTH_SECRETS_KEY', async (t) => {
  const server = await openFlowServer(t, { ...factorEnvironment, AUTH_SECRETS_KEY: '' })
  if (!server) return
  const { query, databaseUrl: url, schema, clock } = server
  const calls = createFactorCalls(server)
  const open = (keys: string) =>
    openAuthServer(t, {
      env: { ...factorEnvironment, AUTH_SECRETS_KEY: keys },
      database: { url, schema },
      clock,
    })
  const refreshAt = (at: string, token: string) =>
    send(at, '/token?grant_type=refresh_token', { body: { refresh_token: token } })
  const fingerprints = async () => {
    const rows = await query('select distinct wrapped_with as with from secret_keys')
    return rows.map((row) => row.with)
  }
  const { email, refreshToken } = await calls.newSignedInUser()
  let current = refreshToken

  await t.test('existing keys are encrypted without ending sessions (property 64)', async () => {
    assert.deepEqual(await fingerprints(), [null])
    const encrypted = await open(oldKey)
    const [fingerprint] = await fingerprints()
    assert.match(fingerprint, /^[\da-f]{16}$/)
    assert.deepEqual(await query('select from server_keys'), [])
    const { status, body } = await refreshAt(encrypted?.url ?? '', current)
    assert.equal(status, 200)
    current = body.refresh_token
  })

  await t.test('a wrong or missing key stops the start with an error (property 64)', async () => {
    const refusal =
      /AUTH_SECRETS_KEY has another key\. Set it to the key that they were encrypted with/
    await assert.rejects(open(newKey), refusal)
    await assert.rejects(open(''), /AUTH_SECRETS_KEY is not set/)
  })

  await t.test(
    'a server of the previous version cannot insert its own keys (property 64)',
    async () => {
      const add = "insert into server_keys (name, value) values ('refresh_tokens', '\\x00')"
      await assert.rejects(query(add), /encrypted with AUTH_SECRETS_KEY/)
    },
  )

  await t.test('the key can be replaced without ending sessions (property 65)', async () => {
    const [before] = await fingerprints()
    const both = await open(`${newKey},${oldKey}`)
    const [after] = await fingerprints()
    assert.notEqual(after, before)
    const first = await refreshAt(both?.url ?? '', current)
    const alone = await open(newKey)
    const second = await refreshAt(alone?.url ?? '', first.body.refresh_token)
    assert.deepEqual([first.status, second.status], [200, 200])
  })

  await t.test('if the key is lost, new keys are created after the table was emptied', async () => {
    await query('delete from secret_keys')
    const restarted = await open(oldKey)
    const at = restarted?.url ?? ''
    assert.equal((await refreshAt(at, current)).body.error_code, 'refresh_token_not_found')
    const link = await send(at, '/admin/generate_link', {
      body: { type: 'magiclink', email },
      token: server.serviceToken,
    })
    const { hashed_token: hash } = link.body
    const verified = await send(at, '/verify', { body: { type: 'magiclink', token_hash: hash } })
    assert.equal((await refreshAt(at, verified.body.refresh_token)).status, 200)
  })
})

test('every key can be replaced without logging users out (property 65)', async (t) => {
  const server = await openFlowServer(t, factorEnvironment)
  if (!server) return
  const { query, databaseUrl, schema, clock, url } = server
  const env = { ...testEnvironment, DATABASE_URL: databaseUrl, AUTH_DB_NAMESPACE: schema }
  const keys = (...args: string[]) => runCommand(['keys', ...args], { env })
  const calls = createFactorCalls(server)
  const idle = await calls.newSignedInUser()
  const active = await calls.newSignedInUser()
  const away = await calls.newSignedInUser()
  const member = await calls.newMember()
  const codesPath = '/factors/recovery-codes'
  const { codes } = (await send(url, codesPath, { method: 'POST', token: member.token })).body
  // This code is sent before the rotation.
  const { email } = await server.newUser()
  await server.post('/otp', { email })
  const { code } = await server.mailTo(email)

  const rotated = await keys('rotate')
  assert.equal(rotated.code, 0, rotated.stderr)
  assert.match(rotated.stdout, /^factor_secrets: version 2 becomes active in 60 s$/m)
  assert.match(
    (await keys('list')).stdout,
    /^refresh_tokens +version 2 +created .* active in \d+ s/m,
  )
  assert.match(
    (await keys('retire')).stdout,
    /^refresh_tokens: version 2 is not active yet; older versions are kept$/m,
  )
  // Activate the new keys, as if a minute had passed.
  await query('update secret_keys set active_at = now() where version = 2')
  const next = await openAuthServer(t, {
    env: factorEnvironment,
    database: { url: databaseUrl, schema },
    clock,
  })
  const nextUrl = next?.url ?? ''
  const at = (path: string, body: unknown, token?: string) =>
    send(nextUrl, path, { body, ...(token !== undefined && { token }) })
  const refresh = (token: string) => at('/token?grant_type=refresh_token', { refresh_token: token })

  await t.test(
    'sessions continue on servers with the new key and on those that still have to load it',
    async () => {
      const renewed = await refresh(active.refreshToken)
      assert.equal(renewed.status, 200)
      // The older server loads the key within seconds; until then it does not accept the token, but
      // the session stays.
      await until(async () => {
        const answer = await calls.refresh(renewed.body.refresh_token)
        if (answer.status !== 200) return false
        active.refreshToken = answer.body.refresh_token
        return true
      })
    },
  )

  await t.test('codes already sent, second factors and recovery codes work', async () => {
    assert.equal((await at('/verify', { type: 'email', email, token: code })).status, 200)
    const { token } = await calls.signIn(member.email)
    const challenge = await at(`/factors/${member.factorId}/challenge`, {}, token)
    const answer = { challenge_id: challenge.body.id, code: member.app.nextCode() }
    const raised = await at(`/factors/${member.factorId}/verify`, answer, token)
    assert.equal(claimsOf(raised.body.access_token).aal, 'aal2')
    const again = await calls.signIn(member.email)
    assert.equal((await at(`${codesPath}/verify`, { code: codes[0] }, again.token)).status, 200)
  })

  await t.test('older versions are kept while they are in use', async () => {
    const { stdout } = await keys('retire')
    assert.match(
      stdout,
      /^refresh_tokens: kept: \d+ sessions that have not been refreshed since the rotation would end/m,
    )
    assert.match(stdout, /^one_time_tokens: kept: \d+ codes \(including recovery codes\)/m)
    assert.match(stdout, /^factor_secrets: version 2 is now the only version$/m)
    assert.match(stdout, /^decoy_ids: version 2 is now the only version$/m)
    assert.equal((await refresh(idle.refreshToken)).status, 200)
    // Its secret has been encrypted with the new key.
    const { token } = await calls.signIn(member.email)
    const challenge = await at(`/factors/${member.factorId}/challenge`, {}, token)
    const answer = { challenge_id: challenge.body.id, code: member.app.nextCode() }
    assert.equal((await at(`/factors/${member.factorId}/verify`, answer, token)).status, 200)
  })

  await t.test(
    '--force deletes versions in use and ends the sessions that depend on them',
    async () => {
      const renewed = await refresh(active.refreshToken)
      const forced = await keys('retire', 'refresh_tokens', '--force')
      assert.match(forced.stdout, /^refresh_tokens: version 2 is now the only version$/m)
      const later = await openAuthServer(t, { database: { url: databaseUrl, schema }, clock })
      const refreshLater = async (token: string) => {
        const body = { refresh_token: token }
        const answer = await send(later?.url ?? '', '/token?grant_type=refresh_token', { body })
        return [answer.status, answer.body.error_code]
      }
      assert.deepEqual(await refreshLater(away.refreshToken), [400, 'refresh_token_not_found'])
      assert.deepEqual(await refreshLater(renewed.body.refresh_token), [200, undefined])
    },
  )

  await t.test('invalid usage is explained', async () => {
    const unknown = await keys('rotate', 'jwt')
    assert.deepEqual([unknown.code, unknown.stdout], [2, ''])
    assert.match(unknown.stderr, /^Unknown key "jwt"\. Keys: refresh_tokens, /)
    const named = await keys('unwrap', 'refresh_tokens')
    assert.deepEqual([named.code, named.stdout], [2, ''])
    assert.match(named.stderr, /^Unexpected argument "refresh_tokens": unwrap takes no names\./)
    const forced = await keys('rotate', '--force')
    assert.deepEqual([forced.code, forced.stdout], [2, ''])
    assert.match(forced.stderr, /^rotate has no option --force\./)
    assert.equal((await keys('turn')).code, 2)
    assert.equal((await keys()).code, 2)
  })
})

test('auth keys unwrap stores keys like the previous version', async (t) => {
  const env = await openMigratedEnvironment(t)
  if (!env) return
  const { DATABASE_URL: connectionString, AUTH_DB_NAMESPACE: schema } = env
  const client = new Client({ connectionString, options: `-c search_path=${schema}` })
  await client.connect()
  t.after(() => client.end())
  const count = async (from: string) => (await client.query(`select from ${from}`)).rowCount
  assert.equal((await runCommand(['migrate'], { env })).code, 0)
  const listed = await runCommand(['keys', 'list'], { env })
  assert.equal(listed.stdout.match(/encrypted with key [\da-f]{16}$/gm)?.length, keyNames.length)
  assert.equal(await count('server_keys'), 0)
  const { code, stdout } = await runCommand(['keys', 'unwrap'], { env })
  assert.deepEqual([code, stdout], [0, 'The keys and password hashes are no longer encrypted.\n'])
  assert.equal(await count('server_keys'), keyNames.length)
  assert.equal(await count('secret_keys where wrapped_with is not null'), 0)
})
