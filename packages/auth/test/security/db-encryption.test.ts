/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCommand } from '../support/auth-command.ts'
import { openAuthServer, testEnvironment } from '../support/auth-server.ts'
import { encryptionKeys, toEncryptionEnvironment } from '../support/encryption-keys.ts'
import { claimsOf, createFactorCalls, factorEnvironment } from '../support/factors.ts'
import { openFlowServer } from '../support/flow-server.ts'

test('keys in the format of GoTrue encrypt TOTP secrets and can be replaced', async (t) => {
  const server = await openFlowServer(t, {
    ...factorEnvironment,
    ...toEncryptionEnvironment(true, 'a', ['a']),
  })
  if (!server) return
  const { query, databaseUrl: url, schema, clock } = server
  const member = await createFactorCalls(server).newMember()
  const open = async (env: Readonly<Record<string, string>>) => {
    const opened = await openAuthServer(t, {
      env: { ...factorEnvironment, ...env },
      database: { url, schema },
      clock,
    })
    assert.ok(opened)
    return createFactorCalls({ ...server, ...opened, clock })
  }
  /** Verifies the second factor in a new session, and returns the level of that session. */
  const verify = async (calls: ReturnType<typeof createFactorCalls>) => {
    const session = { ...member, ...(await calls.signIn(member.email)) }
    calls.take(session, await calls.answer(session, member.factorId, member.app.nextCode()))
    return claimsOf(session.token).aal
  }
  const fingerprints = async () => {
    const rows = await query('select distinct wrapped_with as with from secret_keys order by 1')
    return rows.map((row) => row.with)
  }
  const [ofFirst] = await fingerprints()
  assert.match(ofFirst, /^[\da-f]{16}$/)

  await t.test('neither the secret nor a key is readable in the database', async () => {
    const rows = await query('select secret from mfa_factors where id = $1', [member.factorId])
    assert.equal(rows.length, 1)
    await assert.rejects(open({ AUTH_SECRETS_KEY: '' }), /AUTH_SECRETS_KEY is not set/)
    await assert.rejects(
      open(toEncryptionEnvironment(true, 'b', ['b'])),
      /AUTH_SECRETS_KEY has another key/,
    )
  })

  await t.test('another key encrypts while the old one still decrypts', async () => {
    assert.equal(await verify(await open(toEncryptionEnvironment(true, 'b', ['a', 'b']))), 'aal2')
    const [ofSecond, ...more] = await fingerprints()
    assert.deepEqual(more, [])
    assert.notEqual(ofSecond, ofFirst)
    assert.equal(await verify(await open(toEncryptionEnvironment(true, 'b', ['b']))), 'aal2')
  })

  await t.test('without encryption, existing keys stay encrypted and readable', async () => {
    const before = await fingerprints()
    const env = toEncryptionEnvironment(false, 'b', ['b'])
    assert.equal(await verify(await open(env)), 'aal2')
    assert.deepEqual(await fingerprints(), before)
    const all = { ...testEnvironment, ...env, DATABASE_URL: url, AUTH_DB_NAMESPACE: schema }
    const { code, stdout } = await runCommand(['keys', 'rotate', 'decoy_ids'], { env: all })
    assert.deepEqual([code, /version 2 becomes active/.test(stdout)], [0, true])
    assert.deepEqual(await fingerprints(), [...before, null], 'new keys are not encrypted')
  })

  await t.test('the same key is accepted as AUTH_SECRETS_KEY', async () => {
    assert.equal(
      await verify(await open({ AUTH_SECRETS_KEY: encryptionKeys.b.toString('base64url') })),
      'aal2',
    )
    assert.equal((await fingerprints()).length, 1)
  })
})
