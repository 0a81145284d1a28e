/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { errorOf, fragmentOf, openFlowServer } from '../support/flow-server.ts'
import { newEmail, sdk, send } from '../support/http-client.ts'
import { newPerson, signInByLink } from './people.ts'

const wrongDigits = [403, 'otp_expired', 'Token has expired or is invalid'] as const
const wrongLink = [403, 'otp_expired', 'Email link is invalid or has expired'] as const

test('one-time tokens', async (t) => {
  // There is no request limit, because an attacker may have many addresses.
  const server = await openFlowServer(t, { AUTH_TRUSTED_HOPS: '1' })
  if (!server) return
  const { url, post, query } = server
  const verify = (body: object, headers = {}) => post('/verify', body, headers)
  const other = (digits: string) => `${(Number(digits) + 1) % 1_000_000}`.padStart(6, '0')
  const signedUp = async () => {
    const email = newEmail()
    // For the client library, the first link of a new user is a sign-up link.
    await post('/magiclink', { email }, sdk)
    return { email, mail: await server.mailTo(email) }
  }
  const recovering = async () => {
    const { email, id } = await newPerson(server)
    const { access_token: token } = await signInByLink(server, email)
    // Pretend that this was long ago; otherwise the cooldown would block the message.
    await query('update users set recovery_sent_at = null where id = $1', [id])
    await post('/recover', { email })
    return { id, email, token, mail: await server.mailTo(email) }
  }
  const signIn = async (email: string) => (await signInByLink(server, email)).access_token
  const put = (token: string, body: object) => send(url, '/user', { method: 'PUT', body, token })

  await t.test(
    'after five wrong codes the right one fails too, from any address (property 15)',
    async () => {
      for (const type of ['signup', 'email']) {
        const { email, mail } = await signedUp()
        for (let at = 0; at < 5; at += 1) {
          const headers = { 'x-forwarded-for': `203.0.113.${at}`, 'user-agent': `${at}` }
          const answer = await verify({ type, email, token: other(mail.code) }, headers)
          assert.deepEqual(errorOf(answer), wrongDigits)
        }
        assert.deepEqual(errorOf(await verify({ type, email, token: mail.code })), wrongDigits)
      }
    },
  )

  await t.test('of fifty concurrent guesses only five are checked (property 15)', async () => {
    const { email, mail } = await recovering()
    const guesses = Array.from({ length: 50 }, () =>
      verify({ type: 'recovery', email, token: other(mail.code) }),
    )
    await Promise.all(guesses)
    const right = await verify({ type: 'recovery', email, token: mail.code })
    assert.deepEqual(errorOf(right), wrongDigits)
    // The link has no code to guess, so it still works.
    assert.equal((await verify({ type: 'recovery', token: mail.token })).status, 200)
  })

  await t.test(
    'wrong types and other spellings of a code count as guesses (property 15)',
    async () => {
      const { email, mail } = await recovering()
      for (const type of ['recovery', 'magiclink', 'email', 'recovery', 'magiclink']) {
        await verify({ type, email: email.toUpperCase(), token: other(mail.code) })
      }
      assert.deepEqual(
        errorOf(await verify({ type: 'recovery', email, token: mail.code })),
        wrongDigits,
      )
    },
  )

  await t.test(
    'five wrong guesses invalidate a reauthentication code too (property 15)',
    async (t) => {
      const strict = await openFlowServer(t, {
        AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: 'true',
      })
      if (!strict) return
      const { email } = await newPerson(strict)
      const { access_token: token } = await signInByLink(strict, email)
      await send(strict.url, '/reauthenticate', { token })
      const [row] = await strict.query('select payload from outbox where recipient = $1', [email])
      const nonce = row.payload.Token
      const change = (code: string) =>
        send(strict.url, '/user', {
          method: 'PUT',
          body: { password: 'a new password', nonce: code },
          token,
        })
      for (let count = 0; count < 5; count += 1) await change(other(nonce))
      const answer = await change(nonce)
      assert.deepEqual(errorOf(answer).slice(0, 2), [422, 'reauthentication_not_valid'])
    },
  )

  await t.test(
    'the token of a link has 224 random bits and is unrelated to the code (property 15)',
    async () => {
      const seen = new Set<string>()
      for (let count = 0; count < 5; count += 1) {
        const { email, mail } = await signedUp()
        assert.match(mail.token, /^[\da-f]{56}$/)
        assert.match(mail.code, /^\d{6}$/)
        seen.add(mail.token)
        // Supabase Auth derives the token from the code in this way.
        for (const digest of ['sha224', 'sha256']) {
          const guess = createHash(digest).update(`${email}${mail.code}`).digest('hex')
          assert.notEqual(mail.token, guess.slice(0, 56))
        }
        const stored = JSON.stringify(
          await query(
            'select *, encode(token_hash, $1) as a, encode(otp_hash, $1) as b from one_time_tokens',
            ['hex'],
          ),
        )
        assert.ok(!stored.includes(mail.token) && !stored.includes(`"${mail.code}"`))
      }
      assert.equal(seen.size, 5)
    },
  )

  await t.test(
    'a token works once, as a link or as a code, also for concurrent requests (property 16)',
    async () => {
      const { email, mail } = await recovering()
      const link = { type: 'recovery', token_hash: mail.token }
      const answers = await Promise.all(Array.from({ length: 10 }, () => verify(link)))
      assert.equal(answers.filter(({ status }) => status === 200).length, 1)
      assert.deepEqual(errorOf(await verify(link)), wrongLink)
      assert.deepEqual(
        errorOf(await verify({ type: 'recovery', email, token: mail.code })),
        wrongDigits,
      )
      assert.equal(fragmentOf(await send(url, mail.path))['error_code'], 'otp_expired')
    },
  )

  await t.test('a new token replaces the previous one (property 16)', async () => {
    const { email, mail } = await recovering()
    server.clock.aheadMs += 900_000
    await post('/recover', { email })
    const newest = await server.mailTo(email)
    assert.deepEqual(errorOf(await verify({ type: 'recovery', token_hash: mail.token })), wrongLink)
    assert.equal((await verify({ type: 'recovery', token_hash: newest.token })).status, 200)
  })

  await t.test('tokens are invalidated by a password change (property 16)', async () => {
    const { token, mail } = await recovering()
    const changed = await put(token, { password: 'another password' })
    assert.equal(changed.status, 200)
    assert.deepEqual(errorOf(await verify({ type: 'recovery', token_hash: mail.token })), wrongLink)
  })

  await t.test(
    'tokens are invalidated by an email change, also by an administrator (property 16)',
    async () => {
      const { id, email, token: session, mail } = await recovering()
      const newAddress = newEmail()
      await put(session, { email: newAddress })
      for (const address of [email, newAddress]) {
        const { token } = await server.mailTo(address)
        await verify({ type: 'email_change', token_hash: token })
      }
      const [row] = await query('select email from users where id = $1', [id])
      assert.equal(row.email, newAddress)
      assert.deepEqual(
        errorOf(await verify({ type: 'recovery', token_hash: mail.token })),
        wrongLink,
      )

      const second = await recovering()
      await send(url, `/admin/users/${second.id}`, {
        method: 'PUT',
        body: { email: newEmail() },
        token: server.serviceToken,
      })
      const late = await verify({ type: 'recovery', token_hash: second.mail.token })
      assert.deepEqual(errorOf(late), wrongLink)
    },
  )

  await t.test('no token works for another purpose (property 16)', async () => {
    const signup = await signedUp()
    const recovery = await recovering()
    const changer = await newPerson(server)
    const newAddress = newEmail()
    await put(await signIn(changer.email), { email: newAddress })
    const current = await server.mailTo(changer.email)
    const next = await server.mailTo(newAddress)
    const misused: readonly (readonly [string, string, string, string])[] = [
      ...['recovery', 'magiclink', 'email_change'].map(
        (type) => [type, signup.email, signup.mail.token, signup.mail.code] as const,
      ),
      ...['signup', 'invite', 'email_change'].map(
        (type) => [type, recovery.email, recovery.mail.token, recovery.mail.code] as const,
      ),
      ...['signup', 'invite', 'recovery', 'magiclink', 'email'].flatMap((type) => [
        [type, changer.email, current.token, current.code] as const,
        [type, newAddress, next.token, next.code] as const,
      ]),
      // Use the code of one address for the other.
      ['email_change', newAddress, '0', current.code],
      ['email_change', changer.email, '0', next.code],
    ]
    for (const [type, email, token, code] of misused) {
      const byLink = await verify({ type, token_hash: token, password: undefined })
      assert.deepEqual(errorOf(byLink), wrongLink, type)
      assert.deepEqual(errorOf(await verify({ type, email, token: code })), wrongDigits, type)
      const followed = await send(url, `/verify?type=${type}&token=${token}`)
      assert.equal(fragmentOf(followed)['error_code'], 'otp_expired', type)
    }
    // Confirming the same address twice does not complete the change.
    assert.equal((await verify({ type: 'email_change', token_hash: current.token })).status, 200)
    const again = await verify({ type: 'email_change', token_hash: current.token })
    assert.deepEqual(errorOf(again), wrongLink)
    const [row] = await query('select email from users where id = $1', [changer.id])
    assert.equal(row.email, changer.email)
  })

  await t.test('a PKCE link gives no tokens without its prefix (property 16)', async () => {
    const { email } = await newPerson(server)
    const challenge = { code_challenge: 'c'.repeat(43), code_challenge_method: 'plain' }
    await post('/recover', { email, ...challenge })
    const { token } = await server.mailTo(email)
    assert.match(token, /^pkce_/)
    const bare = token.slice('pkce_'.length)
    assert.deepEqual(errorOf(await verify({ type: 'recovery', token_hash: bare })), wrongLink)
    const followed = await send(url, `/verify?type=recovery&token=${bare}`)
    assert.equal(fragmentOf(followed)['error_code'], 'otp_expired')
  })

  await t.test('a token expires after an hour (property 16)', async () => {
    const first = await recovering()
    const second = await recovering()
    server.clock.aheadMs += 3_599_000
    const type = 'recovery'
    assert.equal((await verify({ type, token_hash: first.mail.token })).status, 200)
    server.clock.aheadMs += 2_000
    const { email, mail } = second
    assert.deepEqual(errorOf(await verify({ type, token_hash: mail.token })), wrongLink)
    assert.deepEqual(errorOf(await verify({ type, email, token: mail.code })), wrongDigits)
  })

  await t.test('a code of one user does not work for another (property 17)', async () => {
    const { email, mail } = await recovering()
    const victim = await recovering()
    const [name = '', host = ''] = email.split('@')
    const variants = [
      victim.email,
      victim.email.toUpperCase(),
      `${name}+x@${host}`,
      `${name}@${host}.example`,
      `${name}.@${host}`,
      newEmail(),
    ]
    for (const address of variants) {
      for (const type of ['recovery', 'email', 'magiclink', 'signup']) {
        const answer = await verify({ type, email: address, token: mail.code })
        assert.equal(answer.status, 403, `${type} ${address}`)
      }
    }
    const both = await verify({ type: 'recovery', email, phone: '15550100', token: mail.code })
    assert.equal(both.status, 400)
    // In capital letters it is the same address.
    const own = await verify({ type: 'recovery', email: email.toUpperCase(), token: mail.code })
    assert.equal(own.body.user.email, email)
  })

  await t.test('link previews and prefetching do not use up a link (property 18)', async () => {
    const { mail } = await recovering()
    const head = await fetch(`${url}${mail.path}`, { method: 'HEAD', redirect: 'manual' })
    assert.equal(head.headers.get('location'), null)
    const hints: readonly (readonly [string, string])[] = [
      ['sec-purpose', 'prefetch'],
      ['sec-purpose', 'prefetch;prerender'],
      ['sec-purpose', 'prefetch;anonymous-client-ip'],
      ['purpose', 'prefetch'],
      ['Purpose', 'Prefetch'],
      ['x-purpose', 'preview'],
      ['x-moz', 'prefetch'],
    ]
    for (const [name, value] of hints) {
      const answer = await send(url, mail.path, { headers: { [name]: value } })
      assert.deepEqual([answer.status, answer.headers.get('location')], [503, null], name)
    }
    await send(url, mail.path, { method: 'OPTIONS' })
    assert.ok(fragmentOf(await send(url, mail.path))['access_token'])
  })
})
