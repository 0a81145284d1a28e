/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type AuthClient,
  type ClientServer,
  dataOf,
  errorOf,
  openClientServer,
} from '../support/auth-js.ts'
import { newEmail, password } from '../support/http-client.ts'
import { untilAllSent } from '../support/outbox.ts'

type Act = (client: AuthClient) => Promise<{ readonly error: unknown }>
type Case = readonly [act: Act, code: string, status: number, message: string | RegExp]

async function check(server: ClientServer, cases: readonly Case[]): Promise<void> {
  for (const [act, code, status, message] of cases) {
    const [actualCode, actualStatus, actualMessage] = errorOf(await act(server.createClient()))
    assert.deepEqual([actualCode, actualStatus], [code, status], String(act))
    if (typeof message === 'string') assert.equal(actualMessage, message)
    else assert.match(String(actualMessage), message)
  }
}

test('error codes that the real client receives', async (t) => {
  const server = await openClientServer(t)
  if (!server) return
  const { email: known } = await server.newUser()
  const open = async (env: Readonly<Record<string, string>>) => {
    const another = await openClientServer(t, env, server)
    if (!another) throw new Error('PostgreSQL is no longer available')
    return another
  }

  await t.test('invalid user input', () =>
    check(server, [
      [
        (client) => client.signUp({ email: 'no address', password }),

        'validation_failed',
        400,
        'Unable to validate email address: invalid format',
      ],
      [
        (client) => client.signUp({ email: newEmail(), password: '12345' }),
        'weak_password',
        422,
        /^Password should be at least 6 characters/,
      ],
      [
        (client) => client.signUp({ email: newEmail(), password: '' }),
        'validation_failed',
        400,
        'Signup requires a valid password',
      ],
      [
        (client) => client.signInWithPassword({ email: known, password: 'wrong' }),
        'invalid_credentials',
        400,
        'Invalid login credentials',
      ],
      [
        (client) => client.signInWithPassword({ email: newEmail(), password }),
        'invalid_credentials',
        400,
        'Invalid login credentials',
      ],
      [
        (client) => client.verifyOtp({ email: known, token: '123456', type: 'email' }),
        'otp_expired',
        403,
        'Token has expired or is invalid',
      ],
      [
        (client) => client.verifyOtp({ token_hash: 'ab', type: 'recovery' }),
        'otp_expired',
        403,
        'Email link is invalid or has expired',
      ],
    ]),
  )

  await t.test('invalid tokens', () =>
    check(server, [
      [
        (client) => client.refreshSession({ refresh_token: 'never-issued' }),
        'refresh_token_not_found',
        400,
        'Invalid Refresh Token: Refresh Token Not Found',
      ],
      [
        (client) => client.getUser('no.token.atall'),
        'bad_jwt',
        403,
        /^invalid JWT: unable to parse or verify signature/,
      ],
      [
        (client) => client.exchangeCodeForSession('a-code'),
        'validation_failed',
        400,
        'invalid request: both auth code and code verifier should be non-empty',
      ],
    ]),
  )

  await t.test('disabled sign-in methods', () =>
    check(server, [
      [
        (client) => client.signInAnonymously(),
        'anonymous_provider_disabled',
        422,
        'Anonymous sign-ins are disabled',
      ],
      [
        (client) => client.signUp({ phone: '+15550100', password }),
        'phone_provider_disabled',
        400,
        'Phone signups are disabled',
      ],
      [
        (client) => client.signInWithPassword({ phone: '+15550100', password }),
        'phone_provider_disabled',
        422,
        'Phone logins are disabled',
      ],
      [
        (client) => client.signInWithOtp({ phone: '+15550100' }),
        'phone_provider_disabled',
        400,
        'Unsupported phone provider',
      ],
    ]),
  )

  await t.test('disabled sign-up', async () => {
    const closed = await open({
      AUTH_DISABLE_SIGNUP: 'true',
      AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
    })
    const refusal = ['signup_disabled', 422, 'Signups not allowed for this instance'] as const
    await check(closed, [
      [(client) => client.signUp({ email: newEmail(), password }), ...refusal],
      [(client) => client.signInAnonymously(), ...refusal],
    ])
    // The response is the same for everyone, so it does not reveal who has an account.
    dataOf(await closed.createClient().signInWithOtp({ email: newEmail() }))
    await closed.signIn(known)
    dataOf(await closed.admin.inviteUserByEmail(newEmail()))
  })

  await t.test('disabled email provider', async () => {
    const noEmail = await open({ AUTH_EXTERNAL_EMAIL_ENABLED: 'false' })
    const code = 'email_provider_disabled'
    await check(noEmail, [
      [
        (client) => client.signUp({ email: newEmail(), password }),
        code,
        400,
        'Email signups are disabled',
      ],
      [
        (client) => client.signInWithPassword({ email: known, password }),
        code,
        422,
        'Email logins are disabled',
      ],
      [(client) => client.signInWithOtp({ email: known }), code, 422, 'Email logins are disabled'],
      [(client) => client.resetPasswordForEmail(known), code, 400, 'Email logins are disabled'],
    ])
  })

  await t.test('a taken address, if email confirmation is disabled', async () => {
    const trusting = await open({ AUTH_MAILER_AUTOCONFIRM: 'true' })
    await check(trusting, [
      [
        (client) => client.signUp({ email: known, password }),
        'user_already_exists',
        422,
        'User already registered',
      ],
    ])
  })

  await t.test('missing character classes in a password', async () => {
    const strict = await open({
      AUTH_PASSWORD_MIN_LENGTH: '10',
      AUTH_PASSWORD_REQUIRED_CHARACTERS: 'abcdefghijklmnopqrstuvwxyz:0123456789',
    })
    const { error } = await strict.createClient().signUp({ email: newEmail(), password: 'ABC' })
    assert.ok(error && 'reasons' in error)
    assert.deepEqual(error.reasons, ['length', 'characters'])
    const login = dataOf(await strict.createClient().signInWithPassword({ email: known, password }))
    assert.deepEqual(login.weakPassword?.reasons, ['characters'])
  })

  await t.test('the wait before the next message', async () => {
    const slow = await open({ AUTH_SMTP_MAX_FREQUENCY: '900' })
    const after = /^For security purposes, you can only request this after 900 seconds\.$/
    const refusal = ['over_email_send_rate_limit', 429, after] as const
    const { email } = await slow.newUser()
    const client = await slow.signIn(email)
    dataOf(await client.updateUser({ email: newEmail() }))
    assert.equal((await client.reauthenticate()).error, null)
    await check(slow, [
      [() => client.updateUser({ email: newEmail() }), ...refusal],
      [() => client.reauthenticate(), ...refusal],
    ])

    // The response does not reveal accounts, so the cooldown also applies to unknown addresses.
    const unconfirmed = newEmail()
    dataOf(await client.signUp({ email: unconfirmed, password }))
    await check(slow, [
      [() => client.signUp({ email: unconfirmed, password }), ...refusal],
      [() => client.resend({ type: 'signup', email: unconfirmed }), ...refusal],
    ])
    for (const address of [email, newEmail()]) {
      dataOf(await client.resetPasswordForEmail(address))
      await check(slow, [[() => client.resetPasswordForEmail(address), ...refusal]])
    }
    await untilAllSent(slow)
    assert.equal(slow.mailbox.countOf(unconfirmed), 1)
  })

  await t.test('the message limit of the server', async () => {
    const spent = await open({ AUTH_RATE_LIMIT_EMAIL_SENT: '0' })
    await check(spent, [
      [
        (client) => client.signUp({ email: newEmail(), password }),
        'over_email_send_rate_limit',
        429,
        'email rate limit exceeded',
      ],
    ])
  })

  await t.test('the request limit of a client', async () => {
    const busy = await open({ AUTH_RATE_LIMIT_TOKEN_REFRESH: '2' })
    const wrong: Act = (client) => client.signInWithPassword({ email: newEmail(), password })
    await check(busy, [
      [wrong, 'invalid_credentials', 400, 'Invalid login credentials'],
      [wrong, 'invalid_credentials', 400, 'Invalid login credentials'],
      [wrong, 'over_request_rate_limit', 429, 'Request rate limit reached'],
    ])
  })
})
