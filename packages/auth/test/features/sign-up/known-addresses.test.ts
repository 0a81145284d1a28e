/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openFlowServer } from '../../support/flow-server.ts'
import { newEmail, password, sdk } from '../../support/http-client.ts'
import { newPhone, openPhoneServer } from '../../support/phone-server.ts'

/** The number of identities in the response to a repeated sign-up, by mode and request header. */
const marked = [
  ['auto', {}, 1],
  ['auto', sdk, 1],
  ['specification', sdk, 1],
  ['upstream', {}, 0],
  ['upstream', sdk, 0],
] as const

for (const mode of ['auto', 'specification', 'upstream'] as const) {
  test(`AUTH_COMPAT_MODE=${mode} decides whether a repeated sign-up is marked; no header does`, async (t) => {
    const server = await openFlowServer(t, {
      AUTH_COMPAT_MODE: mode,
      AUTH_JWT_DEFAULT_GROUP_NAME: 'authenticated',
    })
    if (!server) return
    for (const [, headers, count] of marked.filter(([name]) => name === mode)) {
      const { email } = await server.newUser()
      const repeated = await server.post('/signup', { email, password, data: { n: 1 } }, headers)
      assert.equal(repeated.status, 200)
      const { identities, role, user_metadata } = repeated.body
      assert.equal(identities.length, count, JSON.stringify(headers))
      assert.equal(role, count === 0 ? '' : 'authenticated')
      assert.equal('email' in user_metadata, count === 1)
      const fresh = await server.post('/signup', { email: newEmail(), password }, headers)
      assert.equal(fresh.body.identities.length, 1)
    }
  })
}

test('AUTH_MARK_REPEATED_SIGNUP=false hides accounts in upstream mode as well', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_COMPAT_MODE: 'upstream',
    AUTH_MARK_REPEATED_SIGNUP: 'false',
  })
  if (!server) return
  const { email } = await server.newUser()
  const { body } = await server.post('/signup', { email, password })
  assert.equal(body.identities.length, 1)
})

/** The status for a known address or number with autoconfirm, by mode and request header. */
const statuses = [
  ['auto', {}, 400],
  ['auto', sdk, 422],
  ['specification', sdk, 400],
  ['upstream', {}, 422],
] as const

for (const [mode, headers, status] of statuses) {
  const what = 'x-supabase-api-version' in headers ? 'with the version header' : 'without a header'
  test(`with autoconfirm, a known address or number gets ${status} in mode ${mode} ${what}`, async (t) => {
    const server = await openPhoneServer(t, {
      AUTH_COMPAT_MODE: mode,
      AUTH_MAILER_AUTOCONFIRM: 'true',
      AUTH_SMS_AUTOCONFIRM: 'true',
    })
    if (!server) return
    for (const name of [{ email: newEmail() }, { phone: newPhone() }]) {
      assert.equal((await server.post('/signup', { ...name, password }, headers)).status, 200)
      const again = await server.post('/signup', { ...name, password }, headers)
      assert.deepEqual(
        [again.status, again.headers.get('x-sb-error-code'), again.body.msg],
        [status, 'user_already_exists', 'User already registered'],
      )
    }
  })
}
