/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { claimsOf, methodsOf } from '../../support/factors.ts'
import { blockedByThisSession, errorOf, openFlowServer } from '../../support/flow-server.ts'
import { until } from '../../support/outbox.ts'
import { createPasskeyCalls, newAuthenticator, passkeyEnvironment } from '../../support/passkeys.ts'
import type { Overrides } from '../../support/software-authenticator.ts'

const failed = [400, 'webauthn_verification_failed', 'Credential verification failed']
const usedUp = [400, 'webauthn_challenge_not_found', 'Challenge not found or already used']

test('signing in with passkeys', async (t) => {
  const server = await openFlowServer(t, passkeyEnvironment)
  if (!server) return
  const { query, clock } = server
  const calls = createPasskeyCalls(server)

  await t.test('the options contain neither credentials nor a user', async () => {
    server.takeStatements()
    const { status, body } = await calls.signInOptions()
    assert.equal(status, 200)
    assert.deepEqual(server.takeStatements(), ['add_webauthn_challenge'])
    const { challenge, ...options } = body.options
    assert.equal(Buffer.from(challenge, 'base64url').length, 32)
    assert.deepEqual(options, {
      rpId: 'app.example.com',
      timeout: 300_000,
      userVerification: 'preferred',
    })
    assert.equal(typeof body.expires_at, 'number')
  })

  await t.test('a passkey opens a session at aal1, in three statements', async () => {
    const owner = await calls.newOwner()
    const { body: begun } = await calls.signInOptions()
    const credential = owner.authenticator.get(begun.options)
    server.takeStatements()
    const { status, body } = await calls.finishSignIn({
      challenge_id: begun.challenge_id,
      credential,
    })
    assert.equal(status, 200)
    assert.deepEqual(server.takeStatements(), ['try_passkey', 'use_passkey', 'open_session'])
    assert.deepEqual([body.user.id, body.token_type], [owner.id, 'bearer'])
    assert.deepEqual(methodsOf(body.access_token), ['passkey'])
    assert.equal(claimsOf(body.access_token).aal, 'aal1')
    assert.equal((await calls.refresh(body.refresh_token)).status, 200)
  })

  await t.test('each user signs in with their own passkey', async () => {
    const [one, two] = await Promise.all([calls.newOwner(), calls.newOwner()])
    assert.equal((await calls.signInWith(two.authenticator)).body.user.id, two.id)
    assert.equal((await calls.signInWith(one.authenticator)).body.user.id, one.id)
  })

  await t.test('a forged passkey response is refused', async () => {
    const owner = await calls.newOwner()
    const other = await calls.newOwner()
    const handleOf = (id: string) => Buffer.from(id).toString('base64url')
    const forgeries: Readonly<Record<string, Overrides>> = {
      'another origin': { origin: 'https://evil.example' },
      'another relying party': { rpId: 'example.com' },
      'another challenge': { challenge: Buffer.alloc(32).toString('base64url') },
      'a registration': { type: 'webauthn.create' },
      'user not present': { flags: 0 },
      'unexpectedly eligible for backup': { flags: 13 },
      'a tampered signature': {
        alterSignature: (signature) =>
          Buffer.from(signature.map((byte, at) => (at === 20 ? ~byte : byte))),
      },
      'no signature': { alterSignature: () => Buffer.alloc(0) },
      'another user': { userHandle: handleOf(other.id) },
      'no user': { userHandle: '' },
      'an invalid user': { userHandle: handleOf('x') },
    }
    for (const [what, overrides] of Object.entries(forgeries)) {
      const { status, body } = await calls.signInWith(owner.authenticator, overrides)
      assert.deepEqual([status, body.error_code], failed.slice(0, 2), what)
    }
    // Use the key of another user with the credential id of this one.
    const [key] = owner.authenticator.keys
    const [otherKey] = other.authenticator.keys
    assert.ok(key && otherKey)
    const { body } = await calls.signInOptions()
    const forged = other.authenticator.get(body.options, {}, { ...otherKey, id: key.id })
    const answer = { challenge_id: body.challenge_id, credential: forged }
    assert.deepEqual(errorOf(await calls.finishSignIn(answer)), failed)
    assert.equal((await calls.signInWith(owner.authenticator)).status, 200)
  })

  await t.test('an unknown passkey gets the same error as a wrong one', async () => {
    const unknown = newAuthenticator()
    unknown.create({ challenge: '', user: { id: Buffer.from('x').toString('base64url') } })
    assert.deepEqual(errorOf(await calls.signInWith(unknown)), failed)
    const { body } = await calls.signInOptions()
    const nonsense = { challenge_id: body.challenge_id, credential: { id: 1 } }
    assert.deepEqual(errorOf(await calls.finishSignIn(nonsense)), [
      400,
      'webauthn_verification_failed',
      'Invalid credential response',
    ])
    assert.deepEqual(errorOf(await calls.finishSignIn(nonsense)), usedUp)
  })

  await t.test('a challenge works once, even after a failure, and for five minutes', async () => {
    const owner = await calls.newOwner()
    const begin = async (overrides: Overrides = {}) => {
      const { body } = await calls.signInOptions()
      const credential = owner.authenticator.get(body.options, overrides)
      return { challenge_id: body.challenge_id, credential }
    }
    const answer = await begin()
    const all = await Promise.all([1, 2, 3].map(() => calls.finishSignIn(answer)))
    assert.deepEqual(all.map(({ status }) => status).toSorted(), [200, 400, 400])
    assert.deepEqual(errorOf(await calls.finishSignIn(answer)), usedUp)

    const wrong = await begin({ origin: 'https://evil.example' })
    assert.deepEqual(errorOf(await calls.finishSignIn(wrong)), failed)
    assert.deepEqual(errorOf(await calls.finishSignIn(wrong)), usedUp)

    // Send a signature for one challenge with the id of another.
    const [first, second] = [await begin(), await begin()]
    const crossed = { ...first, challenge_id: second.challenge_id }
    assert.deepEqual(errorOf(await calls.finishSignIn(crossed)), failed)

    const late = await begin()
    clock.aheadMs += 301_000
    assert.deepEqual(errorOf(await calls.finishSignIn(late)), [
      400,
      'webauthn_challenge_expired',
      'Challenge has expired',
    ])
    // A challenge for registering a passkey does not work either.
    const who = { ...owner, ...(await calls.signIn(owner.email)) }
    const { body } = await calls.registrationOptions(who)
    const credential = owner.authenticator.get(body.options)
    const swapped = { challenge_id: body.challenge_id, credential }
    assert.deepEqual(errorOf(await calls.finishSignIn(swapped)), usedUp)
  })

  await t.test('a counter that does not increase indicates a cloned key', async () => {
    const { authenticator, passkeyId } = await calls.newOwner()
    const count = async () => {
      const rows = await query('select sign_count from webauthn_credentials where id = $1', [
        passkeyId,
      ])
      return Number(rows[0].sign_count)
    }
    assert.equal((await calls.signInWith(authenticator, { counter: 7 })).status, 200)
    assert.equal(await count(), 7)
    for (const counter of [7, 6, 0]) {
      assert.deepEqual(errorOf(await calls.signInWith(authenticator, { counter })), failed)
    }
    assert.equal(await count(), 7)
    // A cloned key has signed as often, and its request arrives slightly earlier.
    await query('begin')
    await query('update webauthn_credentials set sign_count = 8 where id = $1', [passkeyId])
    const second = calls.signInWith(authenticator, { counter: 8 })
    await until(async () => (await query(blockedByThisSession)).length > 0)
    await query('commit')
    assert.deepEqual(errorOf(await second), failed)
    assert.equal(await count(), 8)
  })

  await t.test('a passkey without a counter stays at zero', async () => {
    const { authenticator } = await calls.newOwner({ counts: false, isSyncable: true })
    assert.equal((await calls.signInWith(authenticator)).status, 200)
    assert.equal((await calls.signInWith(authenticator)).status, 200)
  })

  await t.test(
    'a banned or unconfirmed user gets the reason once the passkey was verified',
    async () => {
      const owner = await calls.newOwner()
      const states = [
        ['email_confirmed_at = null', [403, 'email_not_confirmed', 'Email not confirmed']],
        [
          `email_confirmed_at = now(), phone = '15550177'`,
          [403, 'phone_not_confirmed', 'Phone not confirmed'],
        ],
        [
          `phone_confirmed_at = now(), banned_until = now() + interval '1 day'`,
          [403, 'user_banned', 'User is banned'],
        ],
      ] as const
      for (const [change, expected] of states) {
        await query(`update users set ${change} where id = $1`, [owner.id])
        const wrong = await calls.signInWith(owner.authenticator, {
          origin: 'https://evil.example',
        })
        assert.deepEqual(errorOf(wrong), failed)
        assert.deepEqual(errorOf(await calls.signInWith(owner.authenticator)), expected)
      }
      await query('update users set banned_until = null where id = $1', [owner.id])
      assert.equal((await calls.signInWith(owner.authenticator)).status, 200)
    },
  )

  await t.test('a second factor is still required', async () => {
    const member = await calls.newMember()
    const authenticator = newAuthenticator()
    await calls.register(member, authenticator)
    const { body } = await calls.signInWith(authenticator)
    const who = { ...member, token: body.access_token, refreshToken: body.refresh_token }
    assert.equal(claimsOf(who.token).aal, 'aal1')
    calls.take(who, await calls.answer(who, member.factorId, member.app.nextCode()))
    assert.deepEqual(
      [claimsOf(who.token).aal, methodsOf(who.token).toSorted()],
      ['aal2', ['passkey', 'totp']],
    )
  })
})

test('the options are limited by AUTH_RATE_LIMIT_PASSKEY', async (t) => {
  const server = await openFlowServer(t, { ...passkeyEnvironment, AUTH_RATE_LIMIT_PASSKEY: '2' })
  if (!server) return
  const { signInOptions } = createPasskeyCalls(server)
  const answers = [await signInOptions(), await signInOptions(), await signInOptions()]
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 429],
  )
  assert.equal(answers[2]?.body.error_code, 'over_request_rate_limit')
})
