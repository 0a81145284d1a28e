/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newPerson, signInByLink } from '../../security/people.ts'
import { openFlowServer } from '../../support/flow-server.ts'
import { type HttpAnswer, sdk, send } from '../../support/http-client.ts'

const codeOf = ({ status, headers }: HttpAnswer) => [status, headers.get('x-sb-error-code')]

const accepted = {
  user: [200, null],
  logout: [204, null],
  refresh: [400, 'session_not_found'],
}
const rejected = {
  user: [403, 'session_not_found'],
  logout: [403, 'session_not_found'],
  refresh: [400, 'refresh_token_not_found'],
}

/** The responses to the tokens of an ended session, by mode and request header. */
const cases = [
  ['auto', {}, accepted],
  ['auto', sdk, rejected],
  ['specification', sdk, accepted],
  ['upstream', {}, rejected],
  ['upstream', sdk, rejected],
] as const

for (const mode of ['auto', 'specification', 'upstream'] as const) {
  test(`AUTH_COMPAT_MODE=${mode} decides whether access tokens of an ended session are accepted`, async (t) => {
    const server = await openFlowServer(t, { AUTH_COMPAT_MODE: mode })
    if (!server) return
    const { url, takeStatements } = server
    for (const [, headers, expected] of cases.filter(([name]) => name === mode)) {
      const { email } = await newPerson(server)
      const { access_token: token, refresh_token } = await signInByLink(server, email)
      const logOut = () => send(url, '/logout', { method: 'POST', token, headers })
      const getUser = () => send(url, '/user', { token, headers })
      const what = `${mode} ${JSON.stringify(headers)}`

      assert.equal((await getUser()).status, 200, what)
      takeStatements()
      assert.equal((await logOut()).status, 204, what)
      assert.deepEqual(takeStatements(), ['find_caller', 'revoke_by_scope'], what)

      const user = await getUser()
      assert.deepEqual(codeOf(user), expected.user, what)
      assert.deepEqual(takeStatements(), ['find_caller'], 'no additional statement')
      assert.deepEqual(codeOf(await logOut()), expected.logout, what)
      const refreshed = await server.post(
        '/token?grant_type=refresh_token',
        { refresh_token },
        headers,
      )
      assert.deepEqual(codeOf(refreshed), expected.refresh, what)
      if (expected === rejected) {
        assert.equal(user.body.msg, 'Session from session_id claim in JWT does not exist')
        assert.equal(refreshed.body.msg, 'Invalid Refresh Token: Refresh Token Not Found')
      }
    }
  })
}

test("ending the other sessions leaves the user's own session alone", async (t) => {
  const server = await openFlowServer(t, { AUTH_COMPAT_MODE: 'upstream' })
  if (!server) return
  const { email } = await newPerson(server)
  const { access_token: token } = await signInByLink(server, email)
  const other = await signInByLink(server, email)
  await send(server.url, '/logout?scope=others', { method: 'POST', token })
  assert.equal((await send(server.url, '/user', { token })).status, 200)
  const ended = await send(server.url, '/user', { token: other.access_token })
  assert.deepEqual(codeOf(ended), [403, 'session_not_found'])
})
