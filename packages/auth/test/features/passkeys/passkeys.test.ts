/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createLog } from '@portcullis/service-kit/log/log'
import { openDatabase } from '../../../src/db/database.ts'
import { cleanUp } from '../../../src/features/server/cleanup.ts'
import { openAuthServer } from '../../support/auth-server.ts'
import { newAccount, openExternalServer } from '../../support/external-server.ts'
import { errorOf, fragmentOf, openFlowServer } from '../../support/flow-server.ts'
import { send } from '../../support/http-client.ts'
import {
  createPasskeyCalls,
  newAuthenticator,
  passkeyEnvironment,
  siteOrigin,
} from '../../support/passkeys.ts'

const failed = [400, 'webauthn_verification_failed', 'Credential verification failed']
const usedUp = [400, 'webauthn_challenge_not_found', 'Challenge not found or already used']
const needsLevel = [
  403,
  'insufficient_aal',
  'AAL2 session is required to manage passkeys when MFA is enabled',
]
const notFound = [404, 'validation_failed', 'Passkey not found']

test('registering and managing passkeys', async (t) => {
  const server = await openFlowServer(t, {
    ...passkeyEnvironment,
    AUTH_PASSKEY_MAX_PASSKEYS_PER_USER: '3',
    AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
  })
  if (!server) return
  const { url, query, clock } = server
  const calls = createPasskeyCalls(server)

  await t.test('the options request a discoverable key without attestation', async () => {
    const who = await calls.newSignedInUser()
    server.takeStatements()
    const { status, body } = await calls.registrationOptions(who)
    assert.deepEqual(server.takeStatements(), [
      'find_caller',
      'list_passkeys',
      'add_webauthn_challenge',
    ])
    assert.equal(status, 200)
    const { challenge, rp, user, attestation, authenticatorSelection, ...rest } = body.options
    assert.equal(Buffer.from(challenge, 'base64url').length, 32)
    assert.deepEqual(rp, { id: 'app.example.com', name: 'app.example.com' })
    assert.equal(Buffer.from(user.id, 'base64url').toString(), who.id)
    assert.deepEqual([user.name, user.displayName], [who.email, who.email])
    assert.equal(attestation, 'none')
    assert.deepEqual(authenticatorSelection, {
      residentKey: 'required',
      requireResidentKey: true,
      userVerification: 'preferred',
    })
    assert.deepEqual([rest.excludeCredentials, rest.timeout], [[], 300_000])
    const inFiveMinutes = clock.now() / 1_000 + 300
    assert.ok(Math.abs(body.expires_at - inFiveMinutes) < 60)
  })

  await t.test('a passkey is named after its authenticator, and excluded next time', async () => {
    const who = await calls.newSignedInUser()
    const authenticator = newAuthenticator({ aaguid: 'bada5566-a7aa-401f-bd96-45619a55120d' })
    const { status, body } = await calls.register(who, authenticator)
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(body).toSorted(), ['created_at', 'friendly_name', 'id'])
    assert.equal(body.friendly_name, '1Password')
    assert.equal((await calls.register(who, newAuthenticator())).body.friendly_name, 'Passkey')
    const { excludeCredentials } = (await calls.registrationOptions(who)).body.options
    assert.deepEqual(excludeCredentials[0], {
      id: authenticator.keys[0]?.id,
      type: 'public-key',
      transports: ['internal'],
    })
    assert.equal(excludeCredentials.length, 2)
    assert.deepEqual((await server.actionsOf(who.id)).slice(-2), [
      'passkey_created',
      'passkey_created',
    ])
  })

  await t.test('a response must be for our site and the current challenge', async () => {
    const who = await calls.newSignedInUser()
    const forgeries = {
      'another origin': { origin: 'https://evil.example' },
      'an origin that starts like ours': { origin: `${siteOrigin}.evil.example` },
      'our origin without TLS': { origin: 'http://app.example.com' },
      'another relying party': { rpId: 'evil.example' },
      'another challenge': { challenge: Buffer.alloc(32).toString('base64url') },
      'an assertion': { type: 'webauthn.get' },
      'user not present': { flags: 0 },
      'an id that is too long': { id: Buffer.alloc(1_024, 7).toString('base64url') },
    }
    for (const [what, overrides] of Object.entries(forgeries)) {
      const answer = await calls.register(who, newAuthenticator(), overrides)
      assert.deepEqual(errorOf(answer), failed, what)
    }
    for (const credential of [{}, 'text', [], { id: 'x', rawId: 'x', type: 'public-key' }]) {
      const { body } = await calls.registrationOptions(who)
      const answer = await calls.finishRegistration(who, {
        challenge_id: body.challenge_id,
        credential,
      })
      assert.deepEqual(errorOf(answer), failed, JSON.stringify(credential))
    }
    assert.deepEqual((await calls.list(who)).body, [])
  })

  await t.test('attestation is ignored, and no certificate is parsed', async () => {
    const who = await calls.newSignedInUser()
    const { body } = await calls.registrationOptions(who)
    const credential = newAuthenticator().create(body.options)
    const text = Buffer.from(credential.response.attestationObject, 'base64url').toString('latin1')
    // If attestation were verified, an Apple statement without a certificate would be refused.
    const forged = text.replace('\x63fmt\x64none', '\x63fmt\x65apple')
    assert.notEqual(forged, text)
    const answer = await calls.finishRegistration(who, {
      challenge_id: body.challenge_id,
      credential: {
        ...credential,
        response: {
          ...credential.response,
          attestationObject: Buffer.from(forged, 'latin1').toString('base64url'),
        },
      },
    })
    assert.equal(answer.status, 200)
  })

  await t.test('a challenge works once, for one user and purpose, for a while', async () => {
    const who = await calls.newSignedInUser()
    const other = await calls.newSignedInUser()
    const authenticator = newAuthenticator()
    const { body } = await calls.registrationOptions(who)
    const answer = {
      challenge_id: body.challenge_id,
      credential: authenticator.create(body.options),
    }
    assert.deepEqual(errorOf(await calls.finishRegistration(other, answer)), usedUp)
    assert.deepEqual(errorOf(await calls.finishSignIn(answer)), usedUp)
    const both = await Promise.all([1, 2].map(() => calls.finishRegistration(who, answer)))
    assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 400])
    assert.deepEqual(errorOf(await calls.finishRegistration(who, answer)), usedUp)

    const late = (await calls.registrationOptions(who)).body
    clock.aheadMs += 301_000
    const lateAnswer = {
      challenge_id: late.challenge_id,
      credential: authenticator.create(late.options),
    }
    assert.deepEqual(errorOf(await calls.finishRegistration(who, lateAnswer)), [
      400,
      'webauthn_challenge_expired',
      'Challenge has expired',
    ])
    assert.deepEqual(errorOf(await calls.finishRegistration(who, lateAnswer)), usedUp)
  })

  await t.test('at most ten unfinished registrations are kept per user', async () => {
    const who = await calls.newSignedInUser()
    const begun = []
    for (let count = 0; count < 12; count += 1) begun.push(await calls.registrationOptions(who))
    const rows = await query('select id from webauthn_challenges where user_id = $1', [who.id])
    assert.deepEqual(
      rows.map(({ id }) => id).toSorted(),
      begun
        .slice(2)
        .map(({ body }) => body.challenge_id)
        .toSorted(),
    )
  })

  await t.test('missing fields are named', async () => {
    const who = await calls.newSignedInUser()
    const messages = [
      [{ credential: {} }, 'challenge_id is required'],
      [{ challenge_id: randomUUID() }, 'credential is required'],
      [{ challenge_id: 'x', credential: {} }, 'challenge_id must be a valid UUID'],
    ] as const
    for (const [body, message] of messages) {
      const expected = [400, 'validation_failed', message]
      assert.deepEqual(errorOf(await calls.finishRegistration(who, body)), expected)
      assert.deepEqual(errorOf(await calls.finishSignIn(body)), expected)
    }
  })

  await t.test('a key that one user has registered cannot be registered by another', async () => {
    const owner = await calls.newOwner()
    const thief = await calls.newSignedInUser()
    const [key] = owner.authenticator.keys
    assert.ok(key)
    const answer = await calls.register(thief, newAuthenticator(), { id: key.id })
    assert.deepEqual(errorOf(answer), [
      422,
      'webauthn_credential_exists',
      'This credential is already registered',
    ])
    assert.equal((await calls.signInWith(owner.authenticator)).body.user.id, owner.id)
  })

  await t.test('the maximum number of passkeys holds, also for concurrent requests', async () => {
    const who = await calls.newSignedInUser()
    const tooMany = [422, 'too_many_passkeys', 'Maximum number of passkeys reached']
    const all = await Promise.all(Array.from({ length: 6 }, () => calls.registrationOptions(who)))
    const answers = await Promise.all(
      all.map(({ body }) =>
        calls.finishRegistration(who, {
          challenge_id: body.challenge_id,
          credential: newAuthenticator().create(body.options),
        }),
      ),
    )
    assert.equal(answers.filter(({ status }) => status === 200).length, 3)
    assert.deepEqual(
      answers.filter(({ status }) => status !== 200).map(errorOf),
      Array.from({ length: 3 }, () => tooMany),
    )
    assert.equal((await calls.list(who)).body.length, 3)
    assert.deepEqual(errorOf(await calls.registrationOptions(who)), tooMany)
  })

  await t.test('anonymous users and SSO users cannot register passkeys', async () => {
    const { body } = await server.post('/signup', {})
    const anonymous = { token: body.access_token }
    const refused = [403, 'no_authorization', 'Anonymous user not allowed to perform these actions']
    assert.deepEqual(errorOf(await calls.registrationOptions(anonymous)), refused)
    const answer = { challenge_id: randomUUID(), credential: {} }
    assert.deepEqual(errorOf(await calls.finishRegistration(anonymous, answer)), refused)
    const who = await calls.newSignedInUser()
    await query('update users set is_sso_user = true where id = $1', [who.id])
    assert.deepEqual(errorOf(await calls.registrationOptions(who)), [
      422,
      'validation_failed',
      'SSO users cannot register passkeys',
    ])
    assert.equal((await send(url, '/passkeys')).status, 401)
  })

  await t.test('passkeys can be listed, renamed and removed', async () => {
    const owner = await calls.newOwner()
    const [item, ...more] = (await calls.list(owner)).body
    assert.deepEqual(more, [])
    assert.deepEqual(Object.keys(item).toSorted(), ['created_at', 'friendly_name', 'id'])
    assert.match(item.created_at, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    assert.equal((await calls.signInWith(owner.authenticator)).status, 200)
    assert.match((await calls.list(owner)).body[0].last_used_at, /Z$/)

    const name = '🔑'.repeat(120)
    const renamed = await calls.rename(owner, item.id, { friendly_name: ` ${name} ` })
    assert.deepEqual([renamed.status, renamed.body.friendly_name], [200, name])
    assert.deepEqual((await calls.list(owner)).body, [renamed.body])
    const flaws = [
      [{}, 'friendly_name is required'],
      [{ friendly_name: ' ' }, 'friendly_name is required'],
      [{ friendly_name: `${name}!` }, 'friendly_name must be 120 characters or less'],
      [{ friendly_name: 'a\0' }, 'The friendly_name has a character that cannot be stored'],
    ] as const
    for (const [body, message] of flaws) {
      const answer = await calls.rename(owner, item.id, body)
      assert.deepEqual(errorOf(answer), [400, 'validation_failed', message])
    }

    const otherUser = await calls.newSignedInUser()
    for (const id of [item.id, randomUUID(), 'x']) {
      assert.deepEqual(errorOf(await calls.remove(otherUser, id)), notFound)
      const answer = await calls.rename(otherUser, id, { friendly_name: 'Mine' })
      assert.deepEqual(errorOf(answer), notFound)
    }
    const removed = await calls.remove(owner, item.id)
    assert.deepEqual([removed.status, removed.body], [204, ''])
    assert.deepEqual(errorOf(await calls.remove(owner, item.id)), notFound)
    assert.deepEqual(errorOf(await calls.signInWith(owner.authenticator)), failed)
    assert.deepEqual((await server.actionsOf(owner.id)).slice(-4), [
      'passkey_created',
      'login',
      'passkey_updated',
      'passkey_deleted',
    ])
  })

  await t.test('a user with a second factor can manage passkeys only at aal2', async () => {
    const member = await calls.newMember()
    const { body } = await calls.register(member, newAuthenticator())
    const low = await calls.signIn(member.email)
    // The registration started at aal2 and is finished at aal1.
    const begun = (await calls.registrationOptions(member)).body
    const answer = {
      challenge_id: begun.challenge_id,
      credential: newAuthenticator().create(begun.options),
    }
    assert.deepEqual(errorOf(await calls.registrationOptions(low)), needsLevel)
    assert.deepEqual(errorOf(await calls.finishRegistration(low, answer)), needsLevel)
    assert.deepEqual(errorOf(await calls.rename(low, body.id, { friendly_name: 'a' })), needsLevel)
    assert.deepEqual(errorOf(await calls.remove(low, body.id)), needsLevel)
    assert.equal((await calls.list(low)).body.length, 1)
    assert.equal((await calls.finishRegistration(member, answer)).status, 200)
    assert.equal((await calls.remove(member, body.id)).status, 204)
  })

  await t.test('administrators can list and remove passkeys', async () => {
    const owner = await calls.newOwner()
    const token = server.serviceToken
    const path = `/admin/users/${owner.id}/passkeys`
    assert.deepEqual((await send(url, path, { token })).body, (await calls.list(owner)).body)
    const remove = (to: string) => send(url, to, { method: 'DELETE', token })
    assert.deepEqual(errorOf(await remove(`${path}/${randomUUID()}`)), notFound)
    assert.deepEqual(errorOf(await remove(`${path}/x`)), notFound)
    const unknownUser = `/admin/users/${randomUUID()}/passkeys`
    assert.equal(
      (await remove(`${unknownUser}/${owner.passkeyId}`)).body.error_code,
      'user_not_found',
    )
    assert.equal((await send(url, unknownUser, { token })).body.error_code, 'user_not_found')
    const other = await calls.newSignedInUser()
    const wrongOwner = `/admin/users/${other.id}/passkeys/${owner.passkeyId}`
    assert.deepEqual(errorOf(await remove(wrongOwner)), notFound)
    assert.equal((await remove(`${path}/${owner.passkeyId}`)).status, 204)
    assert.deepEqual((await send(url, path, { token })).body, [])
    assert.equal((await send(url, path, { token: owner.token })).status, 403)
    const [entry] = await query(
      `select payload from audit_log_entries where payload #>> '{traits,passkey_id}' = $1
       order by created_at desc limit 1`,
      [owner.passkeyId],
    )
    assert.equal(entry.payload.action, 'passkey_deleted')
    assert.deepEqual(entry.payload.traits, {
      user_id: owner.id,
      user_email: owner.email,
      passkey_id: owner.passkeyId,
    })
  })

  await t.test('deleting a user, hard or soft, deletes the passkeys', async () => {
    for (const should_soft_delete of [true, false]) {
      const owner = await calls.newOwner()
      await calls.registrationOptions(owner)
      const deleted = await send(url, `/admin/users/${owner.id}`, {
        method: 'DELETE',
        body: { should_soft_delete },
        token: server.serviceToken,
      })
      assert.equal(deleted.status, 200)
      for (const table of ['webauthn_credentials', 'webauthn_challenges']) {
        const rows = await query(`select 1 from ${table} where user_id = $1`, [owner.id])
        assert.deepEqual(rows, [], table)
      }
      assert.deepEqual(errorOf(await calls.signInWith(owner.authenticator)), failed)
    }
  })

  await t.test('unanswered challenges are deleted after a day', async (t) => {
    const db = openDatabase({
      url: server.databaseUrl,
      schema: server.schema,
      maxPoolSize: 1,
      idleTimeoutMs: 1_000,
      log: createLog({ level: 'error', format: 'text', write: () => {} }),
    })
    t.after(() => db[Symbol.asyncDispose]())
    await calls.signInOptions()
    const [{ count }] = await query('select count(*)::integer from webauthn_challenges')
    assert.ok(count > 0)
    const purge = async (aheadMs: number) => {
      const ages = { linkSeconds: 3_600, cooldownMs: 86_400_000 }
      const { deleted } = await cleanUp(db, clock.now() + aheadMs, ages)
      return deleted.get('passkey challenges') ?? 0
    }
    assert.equal(await purge(3_600_000), 0)
    assert.equal(await purge(2 * 86_400_000), count)
  })
})

test('passkeys of an unconfirmed account are removed when the owner of the address signs in', async (t) => {
  const server = await openExternalServer(t, ['keycloak'], passkeyEnvironment)
  if (!server) return
  const calls = createPasskeyCalls(server)
  const account = newAccount()
  const { body } = await server.post('/admin/users', account, {
    authorization: `Bearer ${server.serviceToken}`,
  })
  // This user never proved to own the address.
  const { token } = await calls.newSignedInUser()
  const authenticator = newAuthenticator()
  const { body: registered } = await calls.register({ token }, authenticator)
  await server.query('update webauthn_credentials set user_id = $1 where id = $2', [
    body.id,
    registered.id,
  ])
  const { access_token = '' } = fragmentOf(await server.signInWith('keycloak', account))
  const owner = { token: access_token }
  assert.equal((await calls.user(owner)).id, body.id)
  assert.deepEqual((await calls.list(owner)).body, [])
})

test('without AUTH_PASSKEY_ENABLED the passkey endpoints are disabled', async (t) => {
  const server = await openAuthServer(t)
  if (!server) return
  const { url, serviceToken } = server
  const email = `user-${randomUUID()}@example.com`
  const { body } = await send(url, '/signup', { body: { email, password: 'long enough' } })
  const answer = { challenge_id: randomUUID(), credential: {} }
  const requests = [
    ['POST', '/passkeys/registration/options', {}],
    ['POST', '/passkeys/registration/verify', answer],
    ['POST', '/passkeys/authentication/options', {}],
    ['POST', '/passkeys/authentication/verify', answer],
    ['GET', '/passkeys', undefined],
    ['PATCH', `/passkeys/${randomUUID()}`, { friendly_name: 'a' }],
    ['DELETE', `/passkeys/${randomUUID()}`, undefined],
  ] as const
  for (const [method, path, content] of requests) {
    const refused = await send(url, path, { method, body: content, token: body.access_token })
    assert.deepEqual(errorOf(refused), [404, 'passkey_disabled', 'Passkeys are disabled'], path)
  }
  const path = `/admin/users/${body.user.id}/passkeys`
  assert.deepEqual((await send(url, path, { token: serviceToken })).body, [])
  assert.equal((await send(url, '/settings')).body.passkeys_enabled, false)
})
