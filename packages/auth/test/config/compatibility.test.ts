import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explainCompatMode, toCompatNote } from '../../src/config/compatibility.ts'
import { parseConfig } from '../../src/config/config.ts'

type Env = Readonly<Record<string, string>>

const modeOf = (...sources: readonly Env[]) => {
  const { compatMode, compatReason } = parseConfig(...sources).config.api
  return [compatMode, compatReason]
}
const old = (name: string) => `the configuration has GOTRUE_ variables, such as ${name}`

test('a configuration with GOTRUE_ names gets the behaviour of Supabase Auth, any other the default', () => {
  const none = ['auto', 'the configuration has no GOTRUE_ variables']
  assert.deepEqual(modeOf({}), none)
  assert.deepEqual(modeOf({ AUTH_SITE_URL: 'https://a.example', DATABASE_URL: 'x' }), none)
  assert.deepEqual(modeOf({ GOTRUE_SITE_URL: 'https://a.example' }), [
    'upstream',
    old('GOTRUE_SITE_URL'),
  ])
  assert.deepEqual(
    modeOf({ GOTRUE_SOMETHING_ELSE: 'x' }),
    ['upstream', old('GOTRUE_SOMETHING_ELSE')],
    'also with a variable that this server does not have',
  )
  assert.deepEqual(modeOf({ AUTH_JWT_EXP: '1' }, { GOTRUE_JWT_EXP: '2' }), [
    'upstream',
    old('GOTRUE_JWT_EXP'),
  ])
})

test('an empty GOTRUE_ variable does not choose the mode', () => {
  assert.equal(modeOf({ GOTRUE_SMTP_PASS: ' ' })[0], 'auto')
})

test('AUTH_COMPAT_MODE, under either of its names, takes precedence over the names of variables', () => {
  const gotrue = { GOTRUE_SITE_URL: 'https://a.example' }
  for (const mode of ['auto', 'specification', 'upstream']) {
    assert.deepEqual(modeOf({ ...gotrue, AUTH_COMPAT_MODE: mode }), [
      mode,
      'AUTH_COMPAT_MODE is set',
    ])
    assert.deepEqual(modeOf({ GOTRUE_COMPAT_MODE: mode }), [mode, 'GOTRUE_COMPAT_MODE is set'])
  }
})

test('the mode decides the defaults of settings that reveal accounts, accept old tokens or share callbacks', () => {
  const defaultsOf = (env: Env) => {
    const { site, tokens, customOAuth } = parseConfig(env).config
    return {
      marks: site.marksRepeatedSignup,
      grace: tokens.parentGrace,
      shares: customOAuth.sharesCallback,
    }
  }
  const off = { marks: false, grace: false, shares: false }
  const on = { marks: true, grace: true, shares: true }
  assert.deepEqual(defaultsOf({}), off)
  assert.deepEqual(defaultsOf({ AUTH_COMPAT_MODE: 'specification' }), off)
  assert.deepEqual(defaultsOf({ AUTH_COMPAT_MODE: 'upstream' }), on)
  assert.deepEqual(defaultsOf({ GOTRUE_JWT_EXP: '60' }), on)
  const reversed = {
    AUTH_MARK_REPEATED_SIGNUP: 'false',
    AUTH_SECURITY_REFRESH_TOKEN_PARENT_GRACE: 'false',
    AUTH_CUSTOM_OAUTH_SHARED_CALLBACK: 'false',
  }
  assert.deepEqual(defaultsOf({ AUTH_COMPAT_MODE: 'upstream', ...reversed }), off)
  assert.deepEqual(
    defaultsOf({
      AUTH_MARK_REPEATED_SIGNUP: 'true',
      AUTH_SECURITY_REFRESH_TOKEN_PARENT_GRACE: 'true',
      AUTH_CUSTOM_OAUTH_SHARED_CALLBACK: 'true',
    }),
    on,
  )
})

test('the start line and config check name the mode and the reason', () => {
  const { api } = parseConfig({ GOTRUE_SITE_URL: 'https://a.example' }).config
  assert.equal(
    toCompatNote(api),
    'compatibility mode upstream (the configuration has GOTRUE_ variables, such as GOTRUE_SITE_URL)',
  )
  assert.equal(
    explainCompatMode(api),
    'The compatibility mode is upstream, because the configuration has GOTRUE_ variables, such as GOTRUE_SITE_URL: ' +
      'all requests get the behaviour of Supabase Auth (AUTH_COMPAT_MODE)',
  )
})
