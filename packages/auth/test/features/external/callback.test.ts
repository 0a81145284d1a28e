/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { newAccount, openExternalServer } from '../../support/external-server.ts'
import { fragmentOf, queryOf } from '../../support/flow-server.ts'
import { type HttpAnswer, newEmail, password, send } from '../../support/http-client.ts'

const verifier = 'v'.repeat(64)
const pkce = {
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 's256',
} as const

function claimsOf(token = '') {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
}

/** The three error fields in the redirect URL. */
function problemOf(answer: HttpAnswer): readonly unknown[] {
  const { error, error_code, error_description } = queryOf(answer)
  return [error, error_code, error_description]
}

test('GET /callback completes an external sign-in', async (t) => {
  const server = await openExternalServer(t, ['keycloak', 'github', 'google'], {
    AUTH_EXTERNAL_GITHUB_EMAIL_OPTIONAL: 'true',
  })
  if (!server) return
  const keycloak = server.at('keycloak')
  const userWith = async (email: string) =>
    (await server.query('select * from users where email = $1', [email]))[0]

  await t.test('redirects with tokens in the fragment, for a new and confirmed user', async () => {
    const account = newAccount()
    server.takeStatements()
    const answer = await server.signInWith('keycloak', account)
    assert.deepEqual(server.takeStatements(), [
      'start_flow',
      'claim_external_flow',
      'find_candidates',
      'create_user',
      'open_session',
    ])
    assert.equal(answer.status, 302)
    assert.ok(answer.headers.get('location')?.startsWith('https://site.example#access_token='))
    const fragment = fragmentOf(answer)
    assert.deepEqual(Object.keys(fragment), [
      'access_token',
      'expires_at',
      'expires_in',
      'provider',
      'refresh_token',
      'sb',
      'token_type',
    ])
    assert.deepEqual([fragment['expires_in'], fragment['token_type']], ['3600', 'bearer'])
    const claims = claimsOf(fragment['access_token'])
    assert.equal(claims.email, account.email)
    const [{ method, provider }] = claims.amr
    assert.deepEqual([method, provider], ['oauth', 'keycloak'])
    const { body: user } = await send(server.url, '/user', {
      token: fragment['access_token'] ?? '',
    })
    assert.ok(user.email_confirmed_at)
    assert.equal(user.identities[0].email, account.email)
    assert.deepEqual(await server.actionsOf(user.id), ['user_signedup', 'login'])
  })

  await t.test('deletes the cookie and the stored flow', async () => {
    keycloak.account = newAccount()
    const { url, cookie, state } = await server.startFlow({ provider: 'keycloak' })
    const answer = await server.finishFlow(await keycloak.agree(`${url}`), cookie)
    assert.match(answer.headers.get('set-cookie') ?? '', /=; Path=\/; Max-Age=0; HttpOnly; Secure/)
    assert.deepEqual(await server.query('select 1 from flow_states where id = $1', [state]), [])
  })

  await t.test('an HTTP client that follows redirects does not have to keep cookies', async () => {
    keycloak.account = newAccount()
    const { url } = await server.startFlow({ provider: 'keycloak' })
    const { pathname, search } = new URL((await keycloak.agree(`${url}`)).url)
    const answer = await send(server.url, `${pathname}${search}`)
    assert.ok(fragmentOf(answer)['access_token'])
    const again = await send(server.url, `${pathname}${search}`)
    assert.equal(queryOf(again)['error_code'], 'bad_oauth_state')
  })

  await t.test("the fragment has the provider's tokens if scopes were requested", async () => {
    const answer = await server.signInWith('keycloak', newAccount(), { scopes: 'offline_access' })
    const fragment = fragmentOf(answer)
    assert.match(fragment['provider_token'] ?? '', /^access /)
    assert.match(fragment['provider_refresh_token'] ?? '', /^refresh /)
  })

  await t.test(
    'a PKCE flow ends with a code; its exchange always returns the provider tokens',
    async () => {
      const account = newAccount()
      const redirectTo = 'https://site.example/in?tab=1'
      const answer = await server.signInWith('keycloak', account, {
        ...pkce,
        redirect_to: redirectTo,
      })
      const location = new URL(answer.headers.get('location') ?? '')
      assert.deepEqual([location.searchParams.get('tab'), location.hash], ['1', ''])
      const body = { auth_code: location.searchParams.get('code'), code_verifier: verifier }
      const { status, body: tokens } = await server.post('/token?grant_type=pkce', body)
      assert.equal(status, 200)
      assert.equal(tokens.user.email, account.email)
      assert.match(tokens.provider_token, /^access /)
      assert.match(tokens.provider_refresh_token, /^refresh /)
      const [{ method, provider }] = claimsOf(tokens.access_token).amr
      assert.deepEqual([method, provider], ['oauth', 'keycloak'])
      assert.equal((await server.post('/token?grant_type=pkce', body)).status, 404)
    },
  )

  await t.test('a second sign-in finds the same user and updates the profile', async () => {
    const account = newAccount()
    await server.signInWith('keycloak', account)
    const { id } = await userWith(account.email)
    const moved = { ...account, email: newEmail(), name: 'Countess' }
    const fragment = fragmentOf(await server.signInWith('keycloak', moved))
    const { body: user } = await send(server.url, '/user', {
      token: fragment['access_token'] ?? '',
    })
    assert.deepEqual([user.id, user.email], [id, account.email])
    assert.equal(user.user_metadata.name, 'Countess')
    assert.deepEqual(
      user.identities.map((identity: { email: string }) => identity.email),
      [moved.email],
    )
  })

  await t.test(
    'a user who has confirmed the same address keeps the account and the password',
    async () => {
      const { id, email } = await server.newUser()
      const fragment = fragmentOf(await server.signInWith('keycloak', newAccount({ email })))
      const { body: user } = await send(server.url, '/user', {
        token: fragment['access_token'] ?? '',
      })
      assert.equal(user.id, id)
      assert.deepEqual(user.app_metadata, { provider: 'email', providers: ['email', 'keycloak'] })
      assert.equal(
        (await server.post('/token?grant_type=password', { email, password })).status,
        200,
      )
      assert.ok((await server.actionsOf(id)).includes('identity_linked'))
    },
  )

  await t.test(
    'another identity with the same verified address belongs to the same account',
    async () => {
      const account = newAccount()
      await server.signInWith('keycloak', account)
      const google = { sub: randomUUID(), email: account.email, email_verified: true }
      const fragment = fragmentOf(await server.signInWith('google', google))
      const { body: user } = await send(server.url, '/user', {
        token: fragment['access_token'] ?? '',
      })
      assert.deepEqual(user.app_metadata.providers, ['keycloak', 'google'])
    },
  )

  await t.test('a sign-in is refused if several accounts have the address', async () => {
    const first = newAccount()
    await server.signInWith('keycloak', first)
    const { email } = await server.newUser()
    await server.signInWith('keycloak', { ...first, email })
    const google = { sub: randomUUID(), email, email_verified: true }
    const answer = await server.signInWith('google', google)
    assert.deepEqual(problemOf(answer), [
      'server_error',
      'unexpected_failure',
      'Multiple accounts with the same email address in the same linking domain detected: default',
    ])
  })

  await t.test('an unverified address has to be confirmed first', async () => {
    const account = newAccount({ email_verified: false })
    const answer = await server.signInWith('keycloak', account)
    assert.deepEqual(problemOf(answer), [
      'access_denied',
      'provider_email_needs_verification',
      'Unverified email with keycloak. A confirmation email has been sent to your keycloak email',
    ])
    assert.equal(fragmentOf(answer)['sb'], '')
    const { path } = await server.mailTo(account.email)
    assert.equal(
      (await server.signInWith('keycloak', account)).headers
        .get('location')
        ?.includes('access_token'),
      false,
    )
    assert.ok(fragmentOf(await send(server.url, path))['access_token'])
    const fragment = fragmentOf(await server.signInWith('keycloak', account))
    assert.equal(fragment['provider'], 'keycloak')
  })

  await t.test(
    'a profile with a field of the wrong type is refused with the name of the field',
    async () => {
      for (const [field, value] of [
        ['email', ['a@b.example']],
        ['name', { first: 'Ada' }],
      ] as const) {
        assert.deepEqual(
          problemOf(await server.signInWith('keycloak', newAccount({ [field]: value }))),
          [
            'invalid_request',
            'validation_failed',
            `Error getting user profile from external provider: ${field} must be a string`,
          ],
        )
      }
    },
  )

  await t.test('a profile without an address is accepted only where allowed', async () => {
    const bare = { sub: randomUUID(), name: 'No Email' }
    assert.deepEqual(problemOf(await server.signInWith('keycloak', bare)), [
      'server_error',
      'unexpected_failure',
      'Error getting user email from external provider',
    ])
    for (const _time of ['first', 'second']) {
      const fragment = fragmentOf(
        await server.signInWith('github', { id: 7, login: 'n', emails: [] }),
      )
      assert.equal(claimsOf(fragment['access_token']).email, '')
    }
  })

  await t.test('the error of the provider is forwarded', async () => {
    keycloak.failure = 'deny'
    const query = { redirect_to: 'https://site.example/in' }
    const answer = await server.signInWith('keycloak', newAccount(), query).finally(() => {
      keycloak.failure = undefined
    })
    assert.equal(answer.status, 302)
    assert.equal(queryOf(answer)['error'], 'access_denied')
    assert.equal(fragmentOf(answer)['error_description'], 'The user denied access')
    assert.ok(answer.headers.get('location')?.startsWith('https://site.example/in?'))
  })

  const failures = [
    ['token endpoint fails', /^Unable to exchange external code: [\da-f]{4}$/],
    ['oversized response', /^Unable to exchange external code: [\da-f]{4}$/],
    ['API fails', /^Error getting user profile from external provider$/],
  ] as const
  for (const [failure, message] of failures) {
    await t.test(`${failure}: the browser gets an error, and the log has the reason`, async () => {
      keycloak.failure = failure
      const answer = await server.signInWith('keycloak', newAccount()).finally(() => {
        keycloak.failure = undefined
      })
      const [error, code, description] = problemOf(answer)
      assert.deepEqual([error, code], ['server_error', 'unexpected_failure'])
      assert.match(`${description}`, message)
      assert.match(server.log.slice(-2).join(), /OutgoingError: (?:the response of )?127\.0\.0\.1/)
    })
  }

  await t.test('a callback without a code is refused', async () => {
    const { cookie, state } = await server.startFlow({ provider: 'keycloak' })
    const answer = await server.finishFlow(
      { url: `https://auth.example/callback?state=${state}` },
      cookie,
    )
    assert.deepEqual(problemOf(answer), [
      'invalid_request',
      'bad_oauth_callback',
      'OAuth callback with missing authorization code missing',
    ])
  })

  await t.test('a provider may post the callback as a form', async () => {
    keycloak.account = newAccount()
    const { url, cookie } = await server.startFlow({ provider: 'keycloak' })
    const back = new URL((await keycloak.agree(`${url}`)).url)
    const form = Object.fromEntries(back.searchParams)
    const answer = await server.finishFlow({ url: 'https://auth.example/callback', form }, cookie)
    assert.equal(fragmentOf(answer)['provider'], 'keycloak')
  })

  await t.test('no other endpoint accepts forms', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const body = 'email=a%40b.example&password=correct+horse'
    const { status } = await send(server.url, '/signup', { body, headers })
    assert.equal(status, 400)
  })

  await t.test('a banned user cannot sign in', async () => {
    const account = newAccount()
    await server.signInWith('keycloak', account)
    await server.query(`update users set banned_until = now() + '1 h' where email = $1`, [
      account.email,
    ])
    assert.deepEqual(problemOf(await server.signInWith('keycloak', account)), [
      'access_denied',
      'user_banned',
      'User is banned',
    ])
  })

  await t.test('an invitation can be accepted only with the invited address', async () => {
    const email = newEmail()
    const invited = { token: server.serviceToken, body: { email, data: { team: 'red' } } }
    await send(server.url, '/invite', invited)
    const { token } = await server.mailTo(email)
    const mismatch = await server.signInWith('keycloak', newAccount(), { invite_token: token })
    assert.deepEqual(problemOf(mismatch), [
      'invalid_request',
      'bad_oauth_callback',
      'Invited email does not match emails from external provider',
    ])
    const account = newAccount({ email })
    const fragment = fragmentOf(
      await server.signInWith('keycloak', account, { invite_token: token }),
    )
    const { body: user } = await send(server.url, '/user', {
      token: fragment['access_token'] ?? '',
    })
    assert.deepEqual([user.email, user.user_metadata.team], [email, 'red'])
    assert.ok(user.email_confirmed_at)
    assert.ok((await server.actionsOf(user.id)).includes('invite_accepted'))
    const again = await server.startFlow({ provider: 'keycloak', invite_token: token })
    assert.equal(again.answer.status, 404)
  })

  await t.test('two concurrent callbacks with the same new identity create one user', async () => {
    keycloak.account = newAccount()
    const backs = await Promise.all(
      [1, 2, 3].map(async () => {
        const { url, cookie } = await server.startFlow({ provider: 'keycloak' })
        return { agreement: await keycloak.agree(`${url}`), cookie }
      }),
    )
    const answers = await Promise.all(
      backs.map(({ agreement, cookie }) => server.finishFlow(agreement, cookie)),
    )
    const subjects = answers.map((answer) => claimsOf(fragmentOf(answer)['access_token']).sub)
    assert.deepEqual([subjects.length, new Set(subjects).size], [3, 1])
  })
})

test('with sign-up disabled, existing users can still sign in', async (t) => {
  const server = await openExternalServer(t, ['keycloak'], {
    AUTH_DISABLE_SIGNUP: 'true',
    AUTH_EXTERNAL_REDIRECT_URL: 'https://site.example/always',
    AUTH_API_EXTERNAL_URL: 'https://another.example',
  })
  if (!server) return
  const answer = await server.signInWith('keycloak', newAccount())
  assert.deepEqual(problemOf(answer), [
    'access_denied',
    'signup_disabled',
    'Signups not allowed for this instance',
  ])
  const email = newEmail()
  const created = { token: server.serviceToken, body: { email, email_confirm: true } }
  await send(server.url, '/admin/users', created)
  const fine = await server.signInWith('keycloak', newAccount({ email }))
  assert.equal(claimsOf(fragmentOf(fine)['access_token']).email, email)
  assert.ok(fine.headers.get('location')?.startsWith('https://site.example/always#'))

  await t.test('no cookie is set if the callback URL is on another host', async () => {
    const { answer } = await server.startFlow({ provider: 'keycloak' })
    assert.equal(answer.headers.get('set-cookie'), null)
  })
})
