import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseConfig } from '../../src/config/config.ts'
import { toLimitTable } from '../../src/limits/limit-table.ts'

const tableOf = (env: Readonly<Record<string, string>>) => toLimitTable(parseConfig(env).config)
const burstOf = (most: number) => tableOf({ AUTH_RATE_LIMIT_TOKEN_REFRESH: `${most}` }).token?.burst

test('the default limits have the documented bursts', () => {
  const { token, authorize, callback, ...others } = tableOf({})
  const { verify, otp, user, anonymous, mfa, passkey, web3 } = others
  for (const limit of [token, authorize, callback]) {
    assert.deepEqual(limit, { most: 150, periodMs: 300_000, burst: 30 })
  }
  for (const limit of [verify, otp, user, passkey, web3]) {
    assert.deepEqual(limit, { most: 30, periodMs: 300_000, burst: 30 })
  }
  assert.deepEqual(anonymous, { most: 30, periodMs: 3_600_000, burst: 30 })
  assert.deepEqual(mfa, { most: 15, periodMs: 60_000, burst: 30 })
})

test('a burst grows with the rate and never exceeds a low one', () => {
  assert.deepEqual([1, 2, 29, 30, 100, 150].map(burstOf), [1, 2, 29, 30, 30, 30])
  assert.deepEqual([300, 1_500, 900_000_000].map(burstOf), [60, 300, 180_000_000])
  for (const most of [1, 7, 150, 151, 10_000, 900_000_000]) {
    assert.ok((burstOf(most) ?? 0) >= most / 300, 'one second of the rate')
  }
  assert.equal(tableOf({ AUTH_RATE_LIMIT_VERIFY: '1000000' }).verify?.burst, 1_000_000)
  assert.equal(tableOf({ AUTH_MFA_RATE_LIMIT_CHALLENGE_AND_VERIFY: '2' }).mfa?.burst, 4)
})

test('0 and off disable a limit, with a warning', () => {
  const variables = {
    AUTH_RATE_LIMIT_TOKEN_REFRESH: 'token',
    AUTH_RATE_LIMIT_VERIFY: 'verify',
    AUTH_RATE_LIMIT_OTP: 'otp',
    AUTH_RATE_LIMIT_PASSKEY: 'passkey',
    AUTH_RATE_LIMIT_WEB3: 'web3',
    AUTH_RATE_LIMIT_O_AUTH_DYNAMIC_CLIENT_REGISTER: 'oauth_register',
    AUTH_RATE_LIMIT_EXTERNAL: 'authorize',
    AUTH_RATE_LIMIT_ANONYMOUS_USERS: 'anonymous',
    AUTH_MFA_RATE_LIMIT_CHALLENGE_AND_VERIFY: 'mfa',
  } as const
  for (const [name, limiter] of Object.entries(variables)) {
    for (const text of ['0', 'off', ' OFF ']) {
      const { config, notes } = parseConfig({ [name]: text })
      const table = toLimitTable(config)
      assert.equal(table[limiter], undefined, name)
      assert.ok(notes.includes(`${name} is off: these requests are not limited`))
      const others = Object.entries(table).filter(([, limit]) => limit === undefined)
      // /signup, /otp, /magiclink, /recover, /resend and PUT /user share one variable.
      const counts: Readonly<Record<string, number>> = { otp: 6, authorize: 2 }
      assert.equal(others.length, counts[limiter] ?? 1, name)
    }
    for (const text of ['-1', 'no', '1.5']) {
      const fault = parseConfig({ [name]: text }).faults.find(({ variable }) => variable === name)
      assert.equal(fault?.message, 'must be a whole number of at least 0, or off')
    }
  }
})

test('for messages, 0 sends none and off removes the limit', () => {
  const capOf = (text: string) =>
    parseConfig({ AUTH_RATE_LIMIT_EMAIL_SENT: text, AUTH_RATE_LIMIT_SMS_SENT: text }).config.limits
  assert.deepEqual([capOf('0').emailSent.most, capOf('0').smsSent.most], [0, 0])
  for (const text of ['off', ' Off']) {
    const { emailSent, smsSent } = capOf(text)
    assert.deepEqual(
      [emailSent, smsSent],
      Array(2).fill({ most: 2 ** 31 - 1, refillMs: undefined }),
    )
  }
})
