/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newEmail, sdk, send } from '../../support/http-client.ts'
import { newPhone, openPhoneServer } from '../../support/phone-server.ts'

for (const mode of ['auto', 'upstream'] as const) {
  test(`AUTH_COMPAT_MODE=${mode} decides whether a disabled sign-up reveals unknown users`, async (t) => {
    const server = await openPhoneServer(t, {
      AUTH_COMPAT_MODE: mode,
      AUTH_DISABLE_SIGNUP: 'true',
    })
    if (!server) return
    const asAdmin = (path: string, body: object) =>
      send(server.url, path, { token: server.serviceToken, body })
    const known = { email: newEmail(), phone: newPhone() }
    await asAdmin('/admin/users', { ...known, email_confirm: true, phone_confirm: true })
    const invited = newEmail()
    await asAdmin('/invite', { email: invited })
    const unknown = mode === 'upstream' ? [422, 'signup_disabled'] : [200, undefined]

    const requests = [
      ['/otp', { email: known.email }, [200, undefined]],
      ['/otp', { phone: known.phone }, [200, undefined]],
      ['/magiclink', { email: invited }, [200, undefined]],
      ['/otp', { email: newEmail() }, unknown],
      ['/otp', { phone: newPhone() }, unknown],
      ['/magiclink', { email: newEmail() }, unknown],
    ] as const
    for (const [path, body, expected] of requests) {
      const answer = await server.post(path, body)
      assert.deepEqual([answer.status, answer.body.error_code], expected, JSON.stringify(body))
    }
    assert.equal((await server.mailTo(known.email)).kind, 'magic_link')
    const refused = await server.post('/otp', { email: newEmail(), create_user: false }, sdk)
    assert.equal(refused.body.code, mode === 'upstream' ? 'otp_disabled' : undefined)
  })
}
