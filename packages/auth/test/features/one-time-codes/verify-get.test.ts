/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { errorOf, fragmentOf, openFlowServer, queryOf } from '../../support/flow-server.ts'
import { newEmail, password, sdk, send } from '../../support/http-client.ts'

const gone = {
  error: 'access_denied',
  error_code: 'otp_expired',
  error_description: 'Email link is invalid or has expired',
}

test('GET /verify', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_URI_ALLOW_LIST: 'myapp://callback,https://app.example/**',
  })
  if (!server) return
  const { url, post, mailTo, query } = server
  const get = (path: string, headers = {}) => send(url, path, { headers })
  const signUp = async (redirectTo = '', more: object = {}) => {
    const email = newEmail()
    const path = redirectTo && `?redirect_to=${encodeURIComponent(redirectTo)}`
    const { status, body } = await post(`/signup${path}`, { email, password, ...more })
    assert.equal(status, 200, JSON.stringify(body))
    return { email, id: body.id, mail: await mailTo(email) }
  }

  await t.test('signs the user in and redirects with tokens in the fragment', async () => {
    const { email, mail } = await signUp()
    assert.equal(mail.url.searchParams.get('type'), 'signup')
    const answer = await get(mail.path)
    assert.equal(answer.status, 303, JSON.stringify(answer.body))
    const location = answer.headers.get('location') ?? ''
    assert.match(location, /^https:\/\/site\.example#access_token=[^?]+$/)
    const keys = [...new URLSearchParams(location.split('#')[1]).keys()]
    assert.deepEqual(keys, [
      'access_token',
      'expires_at',
      'expires_in',
      'refresh_token',
      'sb',
      'token_type',
      'type',
    ])
    const { sb, type, token_type, expires_in, access_token, refresh_token } = fragmentOf(answer)
    assert.deepEqual([sb, type, token_type, expires_in], ['', 'signup', 'bearer', '3600'])
    assert.equal(answer.headers.get('referrer-policy'), 'no-referrer')
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    const user = await send(url, '/user', { token: access_token ?? '' })
    assert.equal(user.body.email, email)
    const refreshed = await post('/token?grant_type=refresh_token', { refresh_token })
    assert.equal(refreshed.status, 200)
  })

  await t.test('redirects to the URL in the link, also to allowed pages and apps', async () => {
    for (const target of [
      'https://site.example/welcome?from=mail',
      'https://app.example/deep/page',
      'myapp://callback',
    ]) {
      const { mail } = await signUp(target)
      const answer = await get(mail.path)
      assert.equal(answer.headers.get('location')?.split('#')[0], target)
      assert.equal(fragmentOf(answer)['type'], 'signup')
    }
    const { mail } = await signUp('https://site.example/#/route')
    const location = (await get(mail.path)).headers.get('location') ?? ''
    assert.match(location, /^https:\/\/site\.example\/#access_token=/)
  })

  await t.test('accepts every type of link', async () => {
    const { email } = await server.newUser()
    for (const [path, type] of [
      ['/magiclink', 'magiclink'],
      ['/recover', 'recovery'],
    ] as const) {
      server.clock.aheadMs += 901_000
      await post(path, { email })
      const mail = await mailTo(email)
      assert.equal(mail.url.searchParams.get('type'), type)
      assert.equal(fragmentOf(await get(mail.path))['type'], type)
    }
    const invited = await signUp()
    const answer = await get(`/verify?type=invite&token=${invited.mail.token}`)
    assert.equal(fragmentOf(answer)['type'], 'invite')
  })

  await t.test('puts the reason in the fragment if a link does not work', async () => {
    const { id, mail } = await signUp('https://site.example/welcome')
    await query(`update users set banned_until = now() + interval '10 years' where id = $1`, [id])
    const banned = await get(mail.path)
    assert.equal(banned.status, 303)
    assert.equal(
      banned.headers.get('location'),
      'https://site.example/welcome#error=access_denied&error_code=user_banned' +
        '&error_description=User+is+banned&sb=',
    )
    await query('update users set banned_until = null where id = $1', [id])
    await get(mail.path)
    assert.deepEqual(fragmentOf(await get(mail.path)), { ...gone, sb: '' })
    const late = await signUp()
    server.clock.aheadMs += 3_601_000
    assert.deepEqual(fragmentOf(await get(late.mail.path)), { ...gone, sb: '' })
    assert.deepEqual(fragmentOf(await get('/verify?type=other&token=x')), {
      error: 'invalid_request',
      error_code: 'validation_failed',
      error_description: 'Invalid email verification type',
      sb: '',
    })
    const unknown = await get('/verify?type=signup&token=pkce_x')
    assert.deepEqual(queryOf(unknown), gone)
    assert.deepEqual(fragmentOf(unknown), { ...gone, sb: '' })
  })

  await t.test('responds with JSON if there is no URL to redirect to', async () => {
    assert.deepEqual(errorOf(await get('/verify?type=signup')), [
      400,
      'validation_failed',
      'Verify requires a token or a token hash',
    ])
    assert.deepEqual(errorOf(await get('/verify?token=x')), [
      400,
      'validation_failed',
      'Verify requires a verification type',
    ])
  })

  await t.test('fails if the redirect is not permitted, and the link still works', async () => {
    const { mail } = await signUp()
    const evil = `/verify?type=signup&token=${mail.token}&redirect_to=`
    for (const target of [
      'https://evil.example',
      'https://site.example@evil.example',
      'https://evil.example\\@site.example',
      'https://site.example.evil.example',
      'https://evil.example?https://site.example',
      '//evil.example',
      'javascript:alert(1)',
      'https://evil.example/\nhttps://site.example',
    ]) {
      const answer = await get(`${evil}${encodeURIComponent(target)}`)
      const expected = [400, 'validation_failed', 'redirect_to is not permitted']
      assert.deepEqual(errorOf(answer), expected, target)
    }
    const tokens = await query('select 1 from one_time_tokens where relates_to = $1', [
      mail.recipient,
    ])
    assert.equal(tokens.length, 1)
    // The client library expects the site URL instead.
    const answer = await get(`${evil}https://evil.example`, sdk)
    assert.match(answer.headers.get('location') ?? '', /^https:\/\/site\.example#access_token=/)
  })

  await t.test('a link is not used up by HEAD requests or prefetching', async () => {
    const { mail } = await signUp()
    const head = await fetch(`${url}${mail.path}`, { method: 'HEAD', redirect: 'manual' })
    assert.deepEqual([head.status, head.headers.get('location')], [200, null])
    const prefetch = await get(mail.path, { 'sec-purpose': 'prefetch;prerender' })
    assert.deepEqual([prefetch.status, prefetch.headers.get('location')], [503, null])
    assert.equal(fragmentOf(await get(mail.path))['type'], 'signup')
  })

  await t.test('only one of many concurrent clicks signs in', async () => {
    const { id, mail } = await signUp()
    const answers = await Promise.all(Array.from({ length: 10 }, () => get(mail.path)))
    const signedIn = answers.filter((answer) => 'access_token' in fragmentOf(answer))
    assert.equal(signedIn.length, 1)
    assert.equal((await query('select 1 from sessions where user_id = $1', [id])).length, 1)
  })

  await t.test('redirects with a code in a PKCE flow', async () => {
    const verifier = randomBytes(56).toString('hex')
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    const pkce = { code_challenge: challenge, code_challenge_method: 's256' }
    const { id, mail } = await signUp('https://site.example/in?a=b#c', pkce)
    assert.match(mail.token, /^pkce_[0-9a-f]{56}$/)
    // Without its prefix the token is invalid.
    const stripped = await get(`/verify?type=signup&token=${mail.token.slice(5)}`)
    assert.deepEqual(fragmentOf(stripped), { ...gone, sb: '' })
    server.takeStatements()
    const answer = await get(mail.path)
    assert.deepEqual(server.takeStatements(), ['confirm_by_link'])
    assert.equal(answer.status, 303)
    const { code, ...others } = queryOf(answer)
    assert.deepEqual(others, { a: 'b' })
    assert.match(code ?? '', /^[0-9a-f-]{36}$/)
    assert.equal(answer.headers.get('location')?.split('#')[1], 'c')
    // No session exists until the code is exchanged.
    assert.deepEqual(await query('select 1 from sessions where user_id = $1', [id]), [])
    const again = await get(mail.path)
    assert.deepEqual(queryOf(again), { a: 'b', ...gone })
    assert.deepEqual(fragmentOf(again), { ...gone, sb: '' })
  })

  await t.test(
    'fails if the flow of a PKCE link no longer exists, and keeps the link',
    async () => {
      const challenge = 'c'.repeat(43)
      const pkce = { code_challenge: challenge, code_challenge_method: 'plain' }
      const { id, mail } = await signUp('', pkce)
      await query('delete from flow_states where user_id = $1', [id])
      const answer = await get(mail.path)
      assert.deepEqual(queryOf(answer), {
        error_code: 'flow_state_not_found',
        error_description: 'invalid flow state, no valid flow state found',
      })
      const tokens = await query('select 1 from one_time_tokens where user_id = $1', [id])
      assert.equal(tokens.length, 1)
    },
  )
})
