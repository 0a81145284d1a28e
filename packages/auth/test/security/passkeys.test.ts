/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { claimsOf, type SignedInUser } from '../support/factors.ts'
import { errorOf, type FlowServer, openFlowServer } from '../support/flow-server.ts'
import { createPasskeyCalls, newAuthenticator, passkeyEnvironment } from '../support/passkeys.ts'
import type { Overrides } from '../support/software-authenticator.ts'

/** The user was present but not verified by the authenticator. */
const unverified = { flags: 1 } as const

const failed = [400, 'webauthn_verification_failed', 'Credential verification failed']
const wrong = [422, 'mfa_verification_failed', 'Invalid WebAuthn credential shown']

/** The options for an authenticator, and the results of its responses. */
function createCalls(server: FlowServer) {
  const calls = createPasskeyCalls(server)
  /** Enrols a key as a second factor, or uses it again. */
  const showFactor = async (
    who: SignedInUser,
    factorId: string,
    authenticator: ReturnType<typeof newAuthenticator>,
    overrides: Overrides,
  ) => {
    const { body } = await calls.challenge(who, factorId)
    const { type, credential_options } = body.webauthn
    const { publicKey } = credential_options
    const credential_response =
      type === 'create'
        ? authenticator.create(publicKey, overrides)
        : authenticator.get(publicKey, overrides)
    const answer = await calls.call(who, `/factors/${factorId}/verify`, {
      challenge_id: body.id,
      webauthn: { type, credential_response },
    })
    const userVerification =
      publicKey.userVerification ?? publicKey.authenticatorSelection.userVerification
    return { answer, userVerification }
  }
  const enroll = async (who: SignedInUser) =>
    (await calls.enroll(who, { factor_type: 'webauthn' })).body.id as string
  return { ...calls, enroll, showFactor }
}

test('by default a passkey needs no user verification, and its session stays at aal1 (property 62)', async (t) => {
  const server = await openFlowServer(t, passkeyEnvironment)
  if (!server) return
  const calls = createCalls(server)
  const options = await calls.signInOptions()
  assert.equal(options.body.options.userVerification, 'preferred')
  const owner = await calls.newOwner()
  for (const overrides of [unverified, {}]) {
    const { status, body } = await calls.signInWith(owner.authenticator, overrides)
    assert.equal(status, 200)
    assert.equal(claimsOf(body.access_token).aal, 'aal1')
  }
})

test('if user verification is required, nothing is accepted without it (property 62)', async (t) => {
  const server = await openFlowServer(t, {
    ...passkeyEnvironment,
    AUTH_WEBAUTHN_REQUIRE_USER_VERIFICATION: 'true',
  })
  if (!server) return
  const calls = createCalls(server)

  await t.test('registration of a passkey (property 62)', async () => {
    const who = await calls.newSignedInUser()
    const { body } = await calls.registrationOptions(who)
    assert.equal(body.options.authenticatorSelection.userVerification, 'required')
    const authenticator = newAuthenticator()
    assert.deepEqual(errorOf(await calls.register(who, authenticator, unverified)), failed)
    assert.deepEqual((await calls.list(who)).body, [])
    assert.equal((await calls.register(who, authenticator)).status, 200)
  })

  await t.test('sign-in with a passkey, which stays at aal1 (property 62)', async () => {
    const options = await calls.signInOptions()
    assert.equal(options.body.options.userVerification, 'required')
    const owner = await calls.newOwner()
    assert.deepEqual(errorOf(await calls.signInWith(owner.authenticator, unverified)), failed)
    const { status, body } = await calls.signInWith(owner.authenticator)
    assert.equal(status, 200)
    assert.equal(claimsOf(body.access_token).aal, 'aal1')
  })

  await t.test('a second factor (property 62)', async () => {
    const who = await calls.newSignedInUser()
    const authenticator = newAuthenticator()
    const factorId = await calls.enroll(who)
    const made = await calls.showFactor(who, factorId, authenticator, unverified)
    assert.deepEqual([made.userVerification, errorOf(made.answer)], ['required', wrong])
    calls.take(who, (await calls.showFactor(who, factorId, authenticator, {})).answer)
    const shown = await calls.showFactor(who, factorId, authenticator, unverified)
    assert.deepEqual([shown.userVerification, errorOf(shown.answer)], ['required', wrong])
    calls.take(who, (await calls.showFactor(who, factorId, authenticator, {})).answer)
    assert.equal(claimsOf(who.token).aal, 'aal2')
  })
})
