/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { type ExternalServer, newAccount, openExternalServer } from '../support/external-server.ts'
import { fragmentOf, queryOf } from '../support/flow-server.ts'
import { type HttpAnswer, newEmail, password, send } from '../support/http-client.ts'
import { openOAuthServer } from '../support/oauth-server.ts'
import { keycloak as keycloakShape } from '../support/provider-shapes/keycloak.ts'
import { openRawConnection } from '../support/raw-connection.ts'

const verifier = 'v'.repeat(64)
const pkce = {
  provider: 'keycloak',
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 's256',
} as const

function problemOf(answer: HttpAnswer): readonly unknown[] {
  const { error_code, error_description } = queryOf(answer)
  return [error_code, error_description]
}

const noState = ['bad_oauth_state', 'OAuth state not found or expired']

/** A browser whose user has just agreed at the provider. */
async function agree(server: ExternalServer, query: Readonly<Record<string, string>>) {
  const provider = server.at(query['provider'] ?? '')
  const { url, cookie, state } = await server.startFlow(query)
  return { agreement: await provider.agree(`${url}`), cookie, state }
}

test('a state works once, in time, and only in the browser that started the flow (property 19)', async (t) => {
  const server = await openExternalServer(t, ['keycloak', 'google'])
  if (!server) return
  server.at('keycloak').account = newAccount()
  const plain = { provider: 'keycloak' } as const
  const exchange = (body: object) => server.post('/token?grant_type=pkce', body)

  await t.test(
    'missing, malformed and unknown states redirect to the site (property 19)',
    async () => {
      const cases = [
        ['', ['bad_oauth_callback', 'OAuth state parameter missing']],
        ['mine', ['bad_oauth_state', 'OAuth state parameter is invalid']],
        [randomUUID(), noState],
      ] as const
      for (const [state, problem] of cases) {
        const url = `https://auth.example/callback?code=1&state=${state}`
        const answer = await server.finishFlow({ url }, '')
        assert.equal(answer.status, 303)
        assert.ok(answer.headers.get('location')?.startsWith('https://site.example?error='))
        assert.deepEqual(problemOf(answer), problem)
      }
    },
  )

  await t.test('a state that expired a second ago is refused (property 19)', async () => {
    const { agreement, cookie } = await agree(server, plain)
    server.clock.aheadMs += 301_000
    const answer = await server.finishFlow(agreement, cookie)
    assert.deepEqual(problemOf(answer), ['bad_oauth_state', 'OAuth state has expired'])
  })

  await t.test(
    'a state cannot be used twice, with tokens or with codes (property 19)',
    async () => {
      const implicit = await agree(server, plain)
      await server.finishFlow(implicit.agreement, implicit.cookie)
      const again = await server.finishFlow(implicit.agreement, implicit.cookie)
      assert.deepEqual(problemOf(again), noState)
      const withCode = await agree(server, pkce)
      await server.finishFlow(withCode.agreement, withCode.cookie)
      assert.deepEqual(problemOf(await server.finishFlow(withCode.agreement, withCode.cookie)), [
        'flow_state_already_used',
        'State has already been used',
      ])
    },
  )

  await t.test('only one of twenty concurrent callbacks succeeds (property 19)', async () => {
    for (const query of [plain, pkce]) {
      const { agreement, cookie } = await agree(server, query)
      const answers: readonly HttpAnswer[] = await Promise.all(
        Array.from({ length: 20 }, () => server.finishFlow(agreement, cookie)),
      )
      const inside = answers.filter(
        (answer) => fragmentOf(answer)['access_token'] ?? queryOf(answer)['code'],
      )
      assert.equal(inside.length, 1)
    }
  })

  await t.test(
    'a victim is not signed in as the user who started the flow (property 19)',
    async () => {
      const { agreement } = await agree(server, plain)
      const ofVictim = await agree(server, plain)
      for (const cookie of ['', ofVictim.cookie]) {
        assert.deepEqual(problemOf(await server.finishFlow(agreement, cookie)), noState)
      }
    },
  )

  await t.test(
    'the cookie is required of every request that a browser may have sent (property 19)',
    async () => {
      const { agreement } = await agree(server, plain)
      const { pathname, search } = new URL(agreement.url)
      const path = `${pathname}${search}`
      for (const sign of ['Sec-Fetch-Mode: navigate', 'Cookie: theme=dark']) {
        // fetch sets the headers about the request mode itself.
        const { write, received } = await openRawConnection(t, server.url)
        write(`GET ${path} HTTP/1.1\r\nHost: auth.example\r\n${sign}\r\nConnection: close\r\n\r\n`)
        assert.match(await received, /^location: .*[?&]error_code=bad_oauth_state/im)
      }
    },
  )

  await t.test('a guessed cookie is refused in both flows (property 19)', async () => {
    for (const query of [plain, pkce]) {
      const { agreement, cookie, state } = await agree(server, query)
      const guess = `${cookie.split('=')[0]}=${'A'.repeat(43)}`
      assert.deepEqual(problemOf(await server.finishFlow(agreement, guess)), noState)
      assert.equal(
        (await server.query('select 1 from flow_states where id = $1', [state])).length,
        1,
      )
    }
  })

  await t.test(
    'a code without a cookie is useless without the verifier (property 19)',
    async () => {
      const { agreement } = await agree(server, pkce)
      const { code: auth_code } = queryOf(await server.finishFlow(agreement, ''))
      const refused = await exchange({ auth_code, code_verifier: 'w'.repeat(64) })
      assert.equal(refused.body.error_code, 'bad_code_verifier')
      assert.equal((await exchange({ auth_code })).status, 400)
      const fine = await exchange({ auth_code, code_verifier: verifier })
      assert.equal(fine.status, 200)
      const twice = await exchange({ auth_code, code_verifier: verifier })
      assert.equal(twice.body.error_code, 'flow_state_not_found')
    },
  )

  await t.test('a code expires after five minutes (property 19)', async () => {
    const { agreement, cookie } = await agree(server, pkce)
    const { code: auth_code } = queryOf(await server.finishFlow(agreement, cookie))
    server.clock.aheadMs += 301_000
    const late = await exchange({ auth_code, code_verifier: verifier })
    assert.equal(late.body.error_code, 'flow_state_expired')
  })

  await t.test('the code of a message is not accepted as a state (property 19)', async () => {
    const { email } = await server.newUser()
    const { provider: _, ...challenge } = pkce
    await server.post('/magiclink', { email, ...challenge })
    const [flow] = await server.query(`select id from flow_states where provider_type = ''`)
    const url = `https://auth.example/callback?code=1&state=${flow.id}`
    assert.deepEqual(problemOf(await server.finishFlow({ url }, '')), noState)
  })
})

test('the code of one provider does not work with the state of another (property 20)', async (t) => {
  const server = await openExternalServer(t, ['keycloak', 'google'])
  if (!server) return
  const codeOf = (url: string) => new URL(url).searchParams.get('code') ?? ''
  const ofGoogle = await agree(server, { provider: 'google' })
  const { cookie, state } = await server.startFlow({ provider: 'keycloak' })
  const query = new URLSearchParams({ state, code: codeOf(ofGoogle.agreement.url) })
  const answer = await server.finishFlow({ url: `https://auth.example/callback?${query}` }, cookie)
  assert.match(`${problemOf(answer)[1]}`, /^Unable to exchange external code/)
  assert.deepEqual(server.at('keycloak').refusals, ['unknown code'])

  await t.test('nor does a code with the issuer of another provider (property 20)', async () => {
    const back = await agree(server, { provider: 'keycloak' })
    const iss = encodeURIComponent(server.at('google').url)
    const mixed = await server.finishFlow({ url: `${back.agreement.url}&iss=${iss}` }, back.cookie)
    assert.match(`${problemOf(mixed)[1]}`, /^Unable to exchange external code/)
    const right = await agree(server, { provider: 'keycloak' })
    const own = encodeURIComponent(server.at('keycloak').url)
    const fine = await server.finishFlow({ url: `${right.agreement.url}&iss=${own}` }, right.cookie)
    assert.equal(fragmentOf(fine)['provider'], 'keycloak')
  })
})

test('registering the address of another person gives no access once the owner signs in (property 21)', async (t) => {
  const server = await openExternalServer(t, ['keycloak', 'google'])
  if (!server) return
  const email = newEmail()
  const attacker = { email, password, data: { note: 'mine' } }
  const { body: made } = await server.post('/signup', attacker)
  // In the worst case the attacker already has a session, an identity and a phone number.
  await server.query('update users set email_confirmed_at = now() where id = $1', [made.id])
  const { body: session } = await server.post('/token?grant_type=password', { email, password })
  await server.query(
    `update users set email_confirmed_at = null, phone = '4915112345678',
       phone_confirmed_at = now(), email_change = 'attacker@evil.example' where id = $1`,
    [made.id],
  )
  await server.query(
    `insert into identities (id, user_id, provider, provider_id, identity_data)
     values ($1, $2, 'google', 'attacker', '{"email": "attacker@evil.example"}')`,
    [randomUUID(), made.id],
  )
  await server.query(
    `insert into mfa_factors (id, user_id, factor_type, status, secret)
     values ($1, $2, 'totp', 'verified', 'of the attacker')`,
    [randomUUID(), made.id],
  )
  const { path: link } = await server.mailTo(email)

  const fragment = fragmentOf(await server.signInWith('keycloak', newAccount({ email })))
  const { body: user } = await send(server.url, '/user', { token: fragment['access_token'] ?? '' })
  assert.deepEqual([user.id, user.email, user.phone], [made.id, email, ''])
  assert.ok(user.email_confirmed_at)
  assert.deepEqual(user.app_metadata, { provider: 'keycloak', providers: ['keycloak'] })
  assert.deepEqual(
    user.identities.map((identity: { provider: string }) => identity.provider),
    ['keycloak'],
  )
  assert.deepEqual([user.user_metadata.note, user.new_email], [undefined, undefined])

  await t.test('no factor blocks the owner (property 21)', async () => {
    assert.deepEqual(await server.query('select 1 from mfa_factors'), [])
  })
  await t.test('the password of the attacker no longer works (property 21)', async () => {
    const { body } = await server.post('/token?grant_type=password', { email, password })
    assert.equal(body.error_code, 'invalid_credentials')
  })
  await t.test('the session of the attacker has ended (property 21)', async () => {
    const { refresh_token, access_token: token } = session
    const refreshed = await server.post('/token?grant_type=refresh_token', { refresh_token })
    assert.equal(refreshed.status, 400)
    const changed = await send(server.url, '/user', { method: 'PUT', token, body: { data: {} } })
    assert.equal(changed.body.error_code, 'session_not_found')
  })
  await t.test('earlier links no longer work (property 21)', async () => {
    assert.equal(fragmentOf(await send(server.url, link))['error_code'], 'otp_expired')
  })
  await t.test('the identity of the attacker is unlinked (property 21)', async () => {
    const google = { sub: 'attacker', email: 'attacker@evil.example', email_verified: true }
    const other = fragmentOf(await server.signInWith('google', google))
    const { body } = await send(server.url, '/user', { token: other['access_token'] ?? '' })
    assert.notEqual(body.id, made.id)
  })
})

test('an address that the provider has not verified is not linked (property 22)', async (t) => {
  for (const autoconfirm of ['false', 'true']) {
    await t.test(`with AUTH_MAILER_AUTOCONFIRM=${autoconfirm} (property 22)`, async (t) => {
      const server = await openExternalServer(t, ['keycloak', 'google'], {
        AUTH_MAILER_AUTOCONFIRM: autoconfirm,
      })
      if (!server) return
      const email = newEmail()
      const created = { token: server.serviceToken, body: { email, password, email_confirm: true } }
      const { body: victim } = await send(server.url, '/admin/users', created)
      const attacker = newAccount({ email, email_verified: false })
      const answer = await server.signInWith('keycloak', attacker)
      if (autoconfirm === 'false') {
        assert.deepEqual(problemOf(answer), [
          'provider_email_needs_verification',
          'Unverified email with keycloak. Verify the email with keycloak in order to sign in',
        ])
        assert.deepEqual(await server.mailsTo(email), [])
      }
      const [separate] = await server.query(
        `select u.* from users u join identities i on i.user_id = u.id where i.provider_id = $1`,
        [attacker['sub']],
      )
      assert.notEqual(separate.id, victim.id)
      assert.deepEqual([separate.email, separate.email_confirmed_at], [null, null])

      const google = { sub: randomUUID(), email, email_verified: true }
      const fragment = fragmentOf(await server.signInWith('google', google))
      const { body: user } = await send(server.url, '/user', {
        token: fragment['access_token'] ?? '',
      })
      assert.equal(user.id, victim.id, 'the verified user is not merged into the other account')
    })
  }
})

test('an ID token is accepted only unchanged, from its issuer and for this client (property 23)', async (t) => {
  const server = await openExternalServer(t, ['keycloak'])
  if (!server) return
  const keycloak = server.at('keycloak')
  const untrusted = await openOAuthServer(t, keycloakShape)
  const now = Math.floor(server.clock.now() / 1_000)
  const account = newAccount()
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
  const { privateKey } = await generateKeyPair('ES256')
  const own = { ...account, iss: keycloak.url, aud: keycloak.clientId, iat: now, exp: now + 60 }
  const sign = (alg: string, key: Parameters<SignJWT['sign']>[0], claims: JWTPayload = own) =>
    new SignJWT(claims).setProtectedHeader({ alg, kid: 'one' }).sign(key)
  const secret = new TextEncoder().encode(keycloak.secret)
  const none = [{ alg: 'none' }, own].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  )
  const bad = 'Bad ID token'
  const both = 'Passed nonce and nonce in id_token should either both exist or not.'

  const cases: readonly (readonly [string, string, string, object?])[] = [
    [
      'another audience',
      await keycloak.createIdToken({ ...account, aud: 'x' }),
      'Unacceptable audience in id_token: [x]',
    ],
    [
      'no audience',
      await keycloak.createIdToken({ ...account, aud: [] }),
      'Unacceptable audience in id_token: []',
    ],
    [
      'another issuer',
      await keycloak.createIdToken({ ...account, iss: 'https://evil.example' }),
      bad,
    ],
    [
      'a token from an untrusted server',
      await untrusted.createIdToken({ ...account, aud: keycloak.clientId }),
      bad,
    ],
    ['an untrusted key with our issuer', await sign('ES256', privateKey), bad],
    ['expired', await keycloak.createIdToken({ ...account, exp: now - 1 }), bad],
    ['without exp', await keycloak.createIdToken({ ...account, exp: undefined }), bad],
    ['not yet valid', await keycloak.createIdToken({ ...account, nbf: now + 60 }), bad],
    [
      'without a user',
      await keycloak.createIdToken({ ...account, sub: '' }),
      'Missing sub claim in id_token',
    ],
    ['signed with our secret', await sign('HS256', secret), bad],
    ['not signed', `${none.join('.')}.`, bad],
    ['cut off', (await keycloak.createIdToken(account)).slice(0, -4), bad],
    ['no token at all', 'x', bad],
    [
      'a nonce in the token only',
      await keycloak.createIdToken({ ...account, nonce: sha256('n') }),
      both,
    ],
    ['a nonce in the request only', await keycloak.createIdToken(account), both, { nonce: 'n' }],
    [
      'another nonce',
      await keycloak.createIdToken({ ...account, nonce: sha256('n') }),
      'Nonces mismatch',
      { nonce: 'm' },
    ],
    [
      'the nonce itself in place of its hash',
      await keycloak.createIdToken({ ...account, nonce: 'n' }),
      'Nonces mismatch',
      { nonce: 'n' },
    ],
  ]
  for (const [what, id_token, message, more] of cases) {
    await t.test(`${what} (property 23)`, async () => {
      const body = { provider: 'keycloak', id_token, ...more }
      const answer = await server.post('/token?grant_type=id_token', body)
      assert.deepEqual([answer.status, answer.body.error_description], [400, message])
    })
  }

  await t.test('an issuer named by the caller is never contacted (property 23)', async () => {
    const answer = await server.post('/token?grant_type=id_token', {
      issuer: untrusted.url,
      client_id: keycloak.clientId,
      id_token: await untrusted.createIdToken({ aud: keycloak.clientId }),
    })
    assert.deepEqual(
      [answer.status, answer.body.msg],
      [400, `Provider (issuer "${untrusted.url}") is not enabled`],
    )
    assert.equal(untrusted.keyRequests, 0)
  })

  await t.test('no user was created or signed in (property 23)', async () => {
    assert.deepEqual(await server.query('select 1 from users'), [])
  })
})
