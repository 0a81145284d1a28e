/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openFlowServer } from '../support/flow-server.ts'
import { type HttpAnswer, newEmail, password, sdk as version } from '../support/http-client.ts'

const elsewhere = '/signup?redirect_to=https://elsewhere.example'

/** Error format, and whether a forbidden redirect is refused, by mode and request header. */
const expected = [
  ['auto', {}, 'A', true],
  ['auto', version, 'B', false],
  ['auto', { 'x-supabase-api-version': '2023-12-31' }, 'A', true],
  ['auto', { 'x-supabase-api-version': '2024-13-01' }, 'A', true],
  ['specification', {}, 'A', true],
  ['specification', version, 'A', true],
  ['upstream', {}, 'A', false],
  ['upstream', version, 'B', false],
] as const

for (const mode of ['auto', 'specification', 'upstream'] as const) {
  test(`AUTH_COMPAT_MODE=${mode} selects the documented or the upstream behaviour`, async (t) => {
    const server = await openFlowServer(t, { AUTH_COMPAT_MODE: mode })
    if (!server) return
    for (const [, headers, form, isRefused] of expected.filter(([name]) => name === mode)) {
      const what = JSON.stringify(headers)
      const failed = await server.post('/signup', { email: 'x', password: 'abcdef' }, headers)
      const { code, error_code: errorCode, message } = failed.body
      assert.equal(failed.status, 400, what)
      assert.deepEqual(
        form === 'A' ? [code, errorCode, message] : [code, errorCode, typeof message],
        form === 'A'
          ? [400, 'validation_failed', undefined]
          : ['validation_failed', undefined, 'string'],
        what,
      )
      assert.equal(
        failed.headers.get('x-supabase-api-version'),
        form === 'A' ? null : '2024-01-01',
        what,
      )
      const newcomer = { email: newEmail(), password }
      const redirected: HttpAnswer = await server.post(elsewhere, newcomer, headers)
      const refusal: unknown = redirected.status === 200 ? undefined : redirected.body.msg
      assert.equal(refusal, isRefused ? 'redirect_to is not permitted' : undefined, what)
    }
  })
}
