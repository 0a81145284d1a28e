/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { endpoints } from '../../src/features/index.ts'
import { errorOf, openFlowServer } from '../support/flow-server.ts'
import { newEmail, password, sdk, send } from '../support/http-client.ts'
import { samlEnvironment } from '../support/saml/sso-server.ts'

const refusal = [400, 'validation_failed', 'The audience is not allowed']

test('only audiences that the operator allows can be chosen (property 51)', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_JWT_AUD: 'authenticated',
    AUTH_JWT_ALLOWED_AUDIENCES: 'staff, partners',
    AUTH_MAILER_AUTOCONFIRM: 'true',
    AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
    AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
    ...samlEnvironment,
  })
  if (!server) return
  const { url, post, serviceToken } = server
  const { email } = await server.newUser()
  const signIn = (headers = {}) => post('/token?grant_type=password', { email, password }, headers)
  const userToken: string = (await signIn()).body.access_token
  const others = ['billing', 'Authenticated', 'authenticated,billing', 'service_role', '*', 'null']

  await t.test('with the header, at any endpoint (property 51)', async () => {
    const bodies: Readonly<Record<string, object>> = {
      '/otp': { email: newEmail() },
      '/token': { email, password },
      '/api-keys/verify': { api_key: 'unknown' },
    }
    for (const { method, path, allowed } of endpoints) {
      const token = { user: userToken, 'former user': userToken, admin: serviceToken, anyone: '' }
      const body = bodies[path] ?? { email: newEmail(), password, type: 'signup' }
      const answer = await send(url, path.replaceAll(/:\w+/g, crypto.randomUUID()), {
        method,
        ...(allowed !== 'anyone' && { token: token[allowed] }),
        ...(method !== 'GET' && { body }),
        headers: { 'x-jwt-aud': 'billing', ...sdk },
      })
      assert.equal(answer.status, 400, `${method} ${path} ${JSON.stringify(answer.body)}`)
      // Endpoints of OAuth have the errors of RFC 6749, those of SCIM the errors of RFC 7644.
      const { message, error_description: description, detail } = answer.body
      assert.equal(message ?? description ?? detail, refusal[2], `${method} ${path}`)
    }
  })

  await t.test('a refused request has no effect (property 51)', async () => {
    const unknown = newEmail()
    const before = await server.query('select count(*) from users')
    for (const aud of others) {
      const headers = { 'x-jwt-aud': aud }
      for (const answer of [
        await post('/signup', { email: unknown, password }, headers),
        await post('/signup', {}, headers),
        await post('/otp', { email: unknown }, headers),
        await post('/magiclink', { email: unknown }, headers),
        await post('/recover', { email }, headers),
        await signIn(headers),
      ]) {
        assert.deepEqual(errorOf(answer), refusal, aud)
      }
    }
    assert.deepEqual(await server.query('select count(*) from users'), before)
    assert.deepEqual([await server.mailsTo(unknown), await server.mailsTo(email)], [[], []])
  })

  await t.test(
    'administrators cannot either, in the body or in a header (property 51)',
    async () => {
      const create = (body: object, headers = {}) =>
        send(url, '/admin/users', {
          body: { email: newEmail(), ...body },
          token: serviceToken,
          headers,
        })
      for (const aud of others) {
        assert.deepEqual(errorOf(await create({ aud })), refusal, aud)
        assert.deepEqual(errorOf(await create({}, { 'x-jwt-aud': aud })), refusal, aud)
      }
      assert.equal((await create({ aud: 'staff' })).body.aud, 'staff')
      assert.equal((await create({}, { 'x-jwt-aud': 'partners' })).body.aud, 'partners')
      assert.equal((await create({ aud: '' })).body.aud, 'authenticated')
    },
  )

  await t.test(
    'allowed audiences are separate from each other and the default (property 51)',
    async () => {
      for (const aud of ['staff', 'partners', 'authenticated', '']) {
        const headers = { 'x-jwt-aud': aud }
        const person = newEmail()
        const { body } = await post('/signup', { email: person, password }, headers)
        const expected = aud || 'authenticated'
        assert.equal(decodeJwt(body.access_token).aud, expected)
        const shown = await send(url, '/user', { token: body.access_token })
        assert.deepEqual([shown.status, shown.body.aud], [200, expected])
        const elsewhere = aud === 'staff' ? 'partners' : 'staff'
        const login = await send(url, '/token?grant_type=password', {
          body: { email: person, password },
          headers: { 'x-jwt-aud': elsewhere },
        })
        assert.equal(login.body.error_code, 'invalid_credentials')
        // The header names another audience than the token.
        const mismatch = await send(url, '/user', {
          token: body.access_token,
          headers: { 'x-jwt-aud': elsewhere },
        })
        assert.equal(mismatch.body.msg, "Token audience doesn't match request audience")
      }
    },
  )
})
