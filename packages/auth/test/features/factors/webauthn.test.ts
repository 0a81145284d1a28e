/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { claimsOf, methodsOf, type SignedInUser } from '../../support/factors.ts'
import { errorOf, openFlowServer } from '../../support/flow-server.ts'
import { createPasskeyCalls, newAuthenticator, passkeyEnvironment } from '../../support/passkeys.ts'
import type { Overrides, SoftwareAuthenticator } from '../../support/software-authenticator.ts'

const wrong = [422, 'mfa_verification_failed', 'Invalid WebAuthn credential shown']

test('security keys as second factors', async (t) => {
  const server = await openFlowServer(t, passkeyEnvironment)
  if (!server) return
  const { query } = server
  const calls = createPasskeyCalls(server)
  const enroll = async (who: SignedInUser, friendly_name = '') =>
    (await calls.enroll(who, { factor_type: 'webauthn', friendly_name })).body.id as string
  const verify = (who: SignedInUser, factorId: string, body: unknown) =>
    calls.call(who, `/factors/${factorId}/verify`, body)
  /** Requests a challenge and returns the response of the authenticator. */
  const prepare = async (
    who: SignedInUser,
    factorId: string,
    authenticator: SoftwareAuthenticator,
    overrides: Overrides = {},
  ) => {
    const { body } = await calls.challenge(who, factorId)
    const { type, credential_options } = body.webauthn
    const { publicKey } = credential_options
    const credential_response =
      type === 'create'
        ? authenticator.create(publicKey, overrides)
        : authenticator.get(publicKey, overrides)
    return { challenge_id: body.id, webauthn: { type, credential_response } }
  }
  const show = async (
    who: SignedInUser,
    factorId: string,
    authenticator: SoftwareAuthenticator,
    overrides: Overrides = {},
  ) => verify(who, factorId, await prepare(who, factorId, authenticator, overrides))
  /** Creates a user with a verified security key, in a session at aal2. */
  const newKeyOwner = async () => {
    const who = await calls.newSignedInUser()
    const authenticator = newAuthenticator({ aaguid: 'cb69481e-8ff7-4039-93ec-0a2729a154a8' })
    const factorId = await enroll(who, 'Key')
    calls.take(who, await show(who, factorId, authenticator))
    return Object.assign(who, { authenticator, factorId })
  }
  const signInAgain = async (who: SignedInUser) => ({ ...who, ...(await calls.signIn(who.email)) })

  await t.test('enrolling a factor creates a key and raises the session to aal2', async () => {
    const who = await calls.newSignedInUser()
    const enrolled = await calls.enroll(who, { factor_type: 'webauthn', friendly_name: 'Key' })
    const { id } = enrolled.body
    assert.deepEqual(enrolled.body, { id, type: 'webauthn', friendly_name: 'Key' })
    const { body } = await calls.challenge(who, id, {
      webauthn: { rpId: 'evil.example', rpOrigins: ['https://evil.example'] },
    })
    assert.deepEqual([body.type, body.webauthn.type], ['webauthn', 'create'])
    const { publicKey } = body.webauthn.credential_options
    // The relying party that the client sends is ignored.
    assert.equal(publicKey.rp.id, 'app.example.com')
    // The user handle differs from that of passkeys, otherwise an authenticator would replace the
    // passkey by this key.
    assert.equal(Buffer.from(publicKey.user.id, 'base64url').toString(), id)
    assert.deepEqual([publicKey.user.name, publicKey.attestation], [who.email, 'none'])
    assert.equal(publicKey.authenticatorSelection.residentKey, 'discouraged')
    const authenticator = newAuthenticator({ aaguid: 'cb69481e-8ff7-4039-93ec-0a2729a154a8' })
    const credential_response = authenticator.create(publicKey)
    const answer = { challenge_id: body.id, webauthn: { type: 'create', credential_response } }
    calls.take(who, await verify(who, id, answer))
    assert.equal(claimsOf(who.token).aal, 'aal2')
    assert.ok(methodsOf(who.token).includes('mfa/webauthn'))
    const [factor] = (await calls.user(who)).factors
    assert.deepEqual(
      [factor.status, factor.factor_type, factor.web_authn_aaguid],
      ['verified', 'webauthn', 'cb69481e-8ff7-4039-93ec-0a2729a154a8'],
    )
    assert.ok(!JSON.stringify(factor).includes('public_key'))
  })

  await t.test('the next session can use the same key, and the counter is stored', async () => {
    const owner = await newKeyOwner()
    const again = await signInAgain(owner)
    const { body } = await calls.challenge(again, owner.factorId)
    assert.equal(body.webauthn.type, 'request')
    const { publicKey } = body.webauthn.credential_options
    assert.deepEqual(publicKey.allowCredentials, [
      { id: owner.authenticator.keys[0]?.id, type: 'public-key', transports: ['internal'] },
    ])
    calls.take(again, await show(again, owner.factorId, owner.authenticator, { counter: 5 }))
    assert.equal(claimsOf(again.token).aal, 'aal2')
    const [{ count }] = await query(
      `select web_authn_credential -> 'sign_count' as count from mfa_factors where id = $1`,
      [owner.factorId],
    )
    assert.equal(count, 5)
    const third = await signInAgain(owner)
    for (const counter of [5, 4]) {
      const answer = await show(third, owner.factorId, owner.authenticator, { counter })
      assert.deepEqual(errorOf(answer), wrong)
    }
    assert.equal(
      (await show(third, owner.factorId, owner.authenticator, { counter: 6 })).status,
      200,
    )
  })

  await t.test('responses signed for another site or by another key are refused', async () => {
    const owner = await newKeyOwner()
    const other = await newKeyOwner()
    const again = await signInAgain(owner)
    const forgeries: Readonly<Record<string, Overrides>> = {
      'another origin': { origin: 'https://evil.example' },
      'another relying party': { rpId: 'evil.example' },
      'another challenge': { challenge: Buffer.alloc(32).toString('base64url') },
      'a tampered signature': { alterSignature: (signature) => signature.subarray(1) },
    }
    for (const [what, overrides] of Object.entries(forgeries)) {
      const answer = await show(again, owner.factorId, owner.authenticator, overrides)
      assert.deepEqual(errorOf(answer), wrong, what)
    }
    assert.deepEqual(errorOf(await show(again, owner.factorId, other.authenticator)), wrong)
    const foreign = await calls.challenge(again, other.factorId)
    assert.deepEqual(errorOf(foreign), [404, 'mfa_factor_not_found', 'Factor not found'])
    assert.equal((await show(again, owner.factorId, owner.authenticator)).status, 200)
  })

  await t.test('a response works once', async () => {
    const owner = await newKeyOwner()
    const again = await signInAgain(owner)
    const answer = await prepare(again, owner.factorId, owner.authenticator)
    calls.take(again, await verify(again, owner.factorId, answer))
    assert.deepEqual(errorOf(await verify(again, owner.factorId, answer)), [
      422,
      'mfa_ip_address_mismatch',
      'Challenge and verify IP addresses mismatch.',
    ])
  })

  await t.test('a second key cannot replace a verified one', async () => {
    const who = await calls.newSignedInUser()
    const factorId = await enroll(who)
    const first = await prepare(who, factorId, newAuthenticator())
    const second = await prepare(who, factorId, newAuthenticator())
    calls.take(who, await verify(who, factorId, first))
    assert.deepEqual(errorOf(await verify(who, factorId, second)), wrong)
    // A newly created key is not a valid response to a challenge for the existing one.
    const { body } = await calls.challenge(who, factorId)
    const { challenge } = body.webauthn.credential_options.publicKey
    const made = newAuthenticator().create({ challenge, user: { id: 'eA' } })
    for (const type of ['create', 'request']) {
      const answer = { challenge_id: body.id, webauthn: { type, credential_response: made } }
      assert.deepEqual(errorOf(await verify(who, factorId, answer)), wrong, type)
    }
  })

  await t.test('existing keys of the user are excluded for another factor', async () => {
    const owner = await newKeyOwner()
    const factorId = await enroll(owner, 'Another')
    const { body } = await calls.challenge(owner, factorId)
    const { excludeCredentials } = body.webauthn.credential_options.publicKey
    assert.deepEqual(
      excludeCredentials.map(({ id }: { id: string }) => id),
      [owner.authenticator.keys[0]?.id],
    )
  })

  await t.test('a WebAuthn factor cannot be used as a passkey', async () => {
    const owner = await newKeyOwner()
    assert.equal(
      (await calls.signInWith(owner.authenticator)).body.error_code,
      'webauthn_verification_failed',
    )
  })

  await t.test('an incomplete response is refused with the name of the missing part', async () => {
    const who = await calls.newSignedInUser()
    const factorId = await enroll(who)
    const { body } = await calls.challenge(who, factorId)
    const flaws = [
      [undefined, 'webauthn is required'],
      ['text', 'webauthn is required'],
      [{ type: 'x' }, 'webauthn.type must be create or request'],
      [{ type: 'create', credential_response: null }, 'webauthn.credential_response is required'],
    ] as const
    for (const [webauthn, message] of flaws) {
      const answer = await verify(who, factorId, { challenge_id: body.id, webauthn })
      assert.deepEqual(errorOf(answer), [400, 'validation_failed', message])
    }
    for (const credential_response of [{}, 'text', { response: {} }]) {
      const webauthn = { type: 'create', credential_response }
      const answer = await verify(who, factorId, { challenge_id: body.id, webauthn })
      assert.deepEqual(errorOf(answer), wrong)
    }
  })

  await t.test('removing a factor lowers the session to aal1', async () => {
    const owner = await newKeyOwner()
    assert.equal((await calls.unenroll(owner, owner.factorId)).status, 200)
    calls.take(owner, await calls.refresh(owner.refreshToken))
    assert.equal(claimsOf(owner.token).aal, 'aal1')
    assert.ok(!methodsOf(owner.token).includes('mfa/webauthn'))
  })
})

test('enrolment and verification of WebAuthn factors are enabled separately', async (t) => {
  const server = await openFlowServer(t, {
    ...passkeyEnvironment,
    AUTH_MFA_WEB_AUTHN_ENROLL_ENABLED: 'false',
    AUTH_MFA_WEB_AUTHN_VERIFY_ENABLED: 'false',
  })
  if (!server) return
  const calls = createPasskeyCalls(server)
  const who = await calls.newSignedInUser()
  assert.deepEqual(errorOf(await calls.enroll(who, { factor_type: 'webauthn' })), [
    422,
    'mfa_webauthn_enroll_not_enabled',
    'MFA enroll is disabled for WebAuthn',
  ])
  const id = '11111111-2222-4333-8444-555555555555'
  await server.query(
    `insert into mfa_factors (id, user_id, factor_type) values ($1, $2, 'webauthn')`,
    [id, who.id],
  )
  assert.deepEqual(errorOf(await calls.challenge(who, id)), [
    422,
    'mfa_webauthn_verify_not_enabled',
    'MFA verification is disabled for WebAuthn',
  ])
})
