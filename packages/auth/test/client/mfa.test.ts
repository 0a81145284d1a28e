/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dataOf, errorOf, openClientServer, watchEvents } from '../support/auth-js.ts'
import { createApp, factorEnvironment } from '../support/factors.ts'

test('second factors with the real client', async (t) => {
  const server = await openClientServer(t, factorEnvironment)
  if (!server) return
  const { clock, admin } = server
  const { id: userId, email } = await server.newUser()
  const experimental = { recoveryCodes: true }
  const client = await server.signIn(email, { experimental })
  const levels = async () => {
    const { currentLevel, nextLevel, currentAuthenticationMethods } = dataOf(
      await client.mfa.getAuthenticatorAssuranceLevel(),
    )
    const methods = currentAuthenticationMethods.map((entry) =>
      typeof entry === 'string' ? entry : entry.method,
    )
    return [currentLevel, nextLevel, methods.toSorted()]
  }
  const enroll = async () => {
    const enrolled = dataOf(await client.mfa.enroll({ factorType: 'totp', friendlyName: 'App' }))
    assert.equal(enrolled.type, 'totp')
    return { ...enrolled, app: createApp(enrolled.totp.secret, clock) }
  }
  const { id: factorId, totp, app, friendly_name } = await enroll()

  await t.test('enroll returns a QR code; challenge and verify confirm it', async () => {
    assert.match(totp.qr_code, /^data:image\/svg\+xml;utf-8,<svg /)
    assert.match(totp.uri, /^otpauth:\/\/totp\//)
    assert.equal(friendly_name, 'App')
    assert.deepEqual(await levels(), ['aal1', 'aal1', ['password']])
    const events = await watchEvents(client)
    const challenge = dataOf(await client.mfa.challenge({ factorId }))
    assert.equal(challenge.type, 'totp')
    const bad = await client.mfa.verify({
      factorId,
      challengeId: challenge.id,
      code: app.wrongCode(),
    })
    assert.deepEqual(errorOf(bad), ['mfa_verification_failed', 422, 'Invalid TOTP code entered'])
    const verified = dataOf(
      await client.mfa.verify({ factorId, challengeId: challenge.id, code: app.nextCode() }),
    )
    assert.equal(verified.user.factors?.[0]?.status, 'verified')
    assert.deepEqual(await levels(), ['aal2', 'aal2', ['password', 'totp']])
    assert.ok(events.includes('MFA_CHALLENGE_VERIFIED'))
    dataOf(await client.refreshSession())
    assert.deepEqual(await levels(), ['aal2', 'aal2', ['password', 'totp']])
  })

  await t.test('a new session needs the factor for aal2', async () => {
    const other = await server.signIn(email)
    const { currentLevel, nextLevel } = dataOf(await other.mfa.getAuthenticatorAssuranceLevel())
    assert.deepEqual([currentLevel, nextLevel], ['aal1', 'aal2'])
    assert.deepEqual(errorOf(await other.mfa.enroll({ factorType: 'totp' })), [
      'insufficient_aal',
      403,
      'AAL2 required to enroll a new factor',
    ])
    dataOf(await other.mfa.challengeAndVerify({ factorId, code: app.nextCode() }))
    const raised = dataOf(await other.mfa.getAuthenticatorAssuranceLevel())
    assert.equal(raised.currentLevel, 'aal2')
    const token = dataOf(await other.getSession()).session?.access_token ?? ''
    const byToken = dataOf(await client.mfa.getAuthenticatorAssuranceLevel(token))
    assert.deepEqual([byToken.currentLevel, byToken.nextLevel], ['aal2', 'aal2'])
  })

  await t.test('recovery codes', async () => {
    const made = dataOf(await client.mfa.recoveryCodes.generate({ friendlyName: 'Paper' }))
    assert.deepEqual([made.total, made.codes.length, made.friendly_name], [10, 10, 'Paper'])
    assert.equal(
      errorOf(await client.mfa.recoveryCodes.generate())[0],
      'mfa_verified_factor_exists',
    )
    const lost = await server.signIn(email, { experimental })
    const events = await watchEvents(lost)
    const typed = made.codes[0]?.toUpperCase().match(/.{4}/g)?.join('-') ?? ''
    dataOf(await lost.mfa.recoveryCodes.verify({ code: typed }))
    assert.ok(events.includes('MFA_CHALLENGE_VERIFIED'))
    const { currentLevel, currentAuthenticationMethods } = dataOf(
      await lost.mfa.getAuthenticatorAssuranceLevel(),
    )
    assert.equal(currentLevel, 'aal2')
    assert.ok(JSON.stringify(currentAuthenticationMethods).includes('"mfa/recovery_code"'))
    assert.equal(
      errorOf(await lost.mfa.recoveryCodes.verify({ code: typed }))[0],
      'mfa_verification_failed',
    )
    const { id, type, total, remaining } = dataOf(await lost.mfa.recoveryCodes.getStatus())
    assert.deepEqual([id, type, total, remaining], [made.id, 'recovery_code', 10, 9])
    const renewed = dataOf(await lost.mfa.recoveryCodes.regenerate())
    assert.equal(renewed.id, made.id)
    assert.ok(!renewed.codes.includes(made.codes[1] ?? ''))
    const lists = dataOf(await client.mfa.listFactors())
    assert.deepEqual([lists.totp.length, lists.recovery_code.length, lists.all.length], [1, 1, 2])
    assert.deepEqual(dataOf(await client.mfa.recoveryCodes.unenroll()), { id: made.id })
    assert.equal(errorOf(await client.mfa.recoveryCodes.getStatus())[0], 'mfa_factor_not_found')
  })

  await t.test('a phone factor, up to the message', async () => {
    const phone = dataOf(await client.mfa.enroll({ factorType: 'phone', phone: '+15550188' }))
    assert.deepEqual([phone.type, phone.phone], ['phone', '15550188'])
    const challenged = dataOf(await client.mfa.challenge({ factorId: phone.id, channel: 'sms' }))
    assert.equal(challenged.type, 'phone')
    const lists = dataOf(await client.mfa.listFactors())
    assert.deepEqual([lists.phone.length, lists.all.length], [0, 2])
    assert.deepEqual(dataOf(await client.mfa.unenroll({ factorId: phone.id })), { id: phone.id })
  })

  await t.test('administrators can list and delete factors', async () => {
    const { factors } = dataOf(await admin.mfa.listFactors({ userId }))
    assert.deepEqual(
      factors.map(({ id, factor_type, status }) => [id, factor_type, status]),
      [[factorId, 'totp', 'verified']],
    )
    dataOf(await admin.mfa.deleteFactor({ userId, id: factorId }))
    assert.deepEqual(dataOf(await admin.mfa.listFactors({ userId })).factors, [])
    assert.equal(
      errorOf(await admin.mfa.deleteFactor({ userId, id: factorId }))[0],
      'mfa_factor_not_found',
    )
    dataOf(await client.refreshSession())
    assert.deepEqual(await levels(), ['aal1', 'aal1', ['password']])
  })

  await t.test('unenroll, then enroll again with the same name', async () => {
    const again = await enroll()
    dataOf(await client.mfa.challengeAndVerify({ factorId: again.id, code: again.app.nextCode() }))
    assert.deepEqual(dataOf(await client.mfa.unenroll({ factorId: again.id })), { id: again.id })
    dataOf(await client.refreshSession())
    assert.deepEqual(dataOf(await client.mfa.listFactors()).all, [])
    await enroll()
  })
})
