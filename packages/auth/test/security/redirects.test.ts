/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { fragmentOf, openFlowServer, queryOf } from '../support/flow-server.ts'
import { type HttpAnswer, newEmail, password, sdk, send } from '../support/http-client.ts'

const site = 'https://site.example'

/** Forbidden URLs that look permitted at first glance. */
const elsewhere = [
  'https://evil.example',
  'https://evil.example/https://site.example',
  'https://site.example@evil.example',
  'https://site.example:443@evil.example/',
  'https://site.example%40evil.example',
  'https://evil.example\\@site.example',
  'https:\\\\evil.example',
  'https:/\\evil.example',
  'https://site.example\\.evil.example',
  'https://site.example.evil.com',
  'https://evilsite.example',
  'https://evil.example?https://site.example',
  'https://evil.example#https://site.example',
  'https://evil.example;site.example',
  'https://evil.example%2f.site.example',
  'https://evil.example%00.site.example',
  'https://evil.example/?.foo.example.com/x',
  'https://evil.example/.foo.example.com/x',
  'https://a.b.foo.example.com/x',
  'https://foo.example.com.evil.example/x',
  '//evil.example',
  '///evil.example',
  '/\\evil.example',
  'evil.example',
  '/relative',
  '?query',
  'http:evil.example',
  'https:evil.example',
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'javascript://site.example/%0aalert(1)',
  'java\tscript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:x',
  'blob:https://site.example/x',
  'file://site.example/etc/passwd',
  'ftp://site.example/',
  'view-source:https://site.example',
  'https://2130706433',
  'https://16909060/',
  'https://0x7f000001',
  'https://0x1.0x2.0x3.0x4',
  'https://0177.0.0.1.evil.example',
  'https://1.2.3.4',
  'https://1.2.772',
  'https://[::ffff:1.2.3.4]',
  'https://[::ffff:102:304]',
  'https://[2001:db8::1]',
  'https://site.example.',
  'https://SITE.EXAMPLE.',
  'https://evil.example./',
  'https://si\tte.example.evil.example',
  'https://evil.example\n.site.example',
  'https://evil\r\n.example',
  'https://site.example\r\nSet-Cookie: a=b',
  ' https://evil.example',
  '\u0000https://site.example',
  'https://ѕite.example',
  'https://site。example.evil.example',
  'https://sıte.example',
  'https://xn--ite-5cd.example',
  'https://site.example\u2044.evil.example',
  'https://docs.example/docss',
  'https://docs.example/docs/',
  'https://docs.example/docs/../admin',
  'https://docs.example/docs?next=https://evil.example',
  'https://docs.example:8443/docs',
  'http://docs.example/docs',
  'https://docs.example/DOCS',
  'myapp://evil',
  'myapp2://callback',
]

const allowList = [
  'https://docs.example/docs',
  'https://*.foo.example.com/*',
  'myapp://callback',
  'https://mine.example/mine/**',
  'https://**.deep.example/',
  'otherapp://**',
  'com.app.example:/mine/**',
].join()

/** The URL that is sent instead; undefined if it is refused. */
const rewritten: Readonly<Record<string, string | undefined>> = {
  'https://mine.example/mine/../evil/': undefined,
  'https://mine.example/mine/%2e%2e/evil/': undefined,
  'https://mine.example/mine/%2E./evil/': undefined,
  'https://mine.example/mine/.%2e/evil/': undefined,
  'https://mine.example/mine/..': undefined,
  'https://mine.example/mine/a/../../evil': undefined,
  'https://mine.example/mine\\..\\evil': undefined,
  'https://mine.example/mine/..\\evil': undefined,
  'https://mine.example/mine/..%2fevil': undefined,
  'https://mine.example/mine/%2e%2e%2Fevil': undefined,
  'https://mine.example/mine/..%5cevil': undefined,
  'https://mine.example/mine/%252e%252e/evil': undefined,
  'https://mine.example/mine/%25252e%25252e%25252fevil': undefined,
  'https://mine.example/mine/..;/evil': undefined,
  'https://mine.example/mine/.\t./evil': undefined,
  'https://mine.example/mine/.\n./evil': undefined,
  'com.app.example:/mine/../evil': undefined,
  'https:mine.example/mine/a': undefined,
  'https:/mine.example/mine/a': undefined,
  'https:///mine.example/mine/a': undefined,
  'https:site.example': undefined,
  'https:/site.example': undefined,
  'https:///site.example': undefined,
  'HTTPS:site.example/': undefined,
  'http:site.example/': undefined,
  'otherapp:login': undefined,
  'https://mine.example/mine/./a/../b': 'https://mine.example/mine/b',
  'https://mine.example/evil/../mine/b': 'https://mine.example/mine/b',
  'https://MINE.example:443/mine/b': 'https://mine.example/mine/b',
  'https://mine.example/mine/...': 'https://mine.example/mine/...',
  'https://mine.example/mine/?next=../..': 'https://mine.example/mine/?next=../..',
  'https://mine.example/mine/\u0100?\u{1f600}': 'https://mine.example/mine/%C4%80?%F0%9F%98%80',
  'https://mine.example/mine/a b': undefined,
  'https://site\u3002example/': 'https://site.example/',
  'otherapp://login/x': 'otherapp://login/x',
  'otherapp://': 'otherapp://',
  'otherapp://\u00e4?x': 'otherapp://%C3%A4?x',
  'com.app.example:/mine/x': 'com.app.example:/mine/x',
}

test('redirects stay within the permitted URLs', async (t) => {
  const server = await openFlowServer(t, { AUTH_URI_ALLOW_LIST: allowList })
  if (!server) return
  const { url, post } = server
  const follow = (target: string, headers = {}) =>
    send(url, `/verify?type=signup&token=none&redirect_to=${encodeURIComponent(target)}`, {
      headers,
    })

  for (const target of elsewhere) {
    await t.test(`open redirect: ${JSON.stringify(target)} (property 6)`, async () => {
      const refused = await follow(target)
      assert.deepEqual(
        [refused.status, refused.body.error_code, refused.headers.get('location')],
        [400, 'validation_failed', null],
      )
      // The client library expects the site URL instead.
      const followed = await follow(target, sdk)
      assert.equal(followed.status, 303)
      assert.match(followed.headers.get('location') ?? '', /^https:\/\/site\.example#error=/)
    })
  }

  await t.test(
    'permitted URLs work, also in capitals and with another port (property 6)',
    async () => {
      const fine = {
        'https://site.example/in?a=b': 'https://site.example/in?a=b',
        'https://site.example': 'https://site.example',
        'HTTPS://SITE.example/': 'https://site.example/',
        'http://site.example:8080/': 'http://site.example:8080/',
        'https://docs.example/docs': 'https://docs.example/docs',
        'https://a.foo.example.com/x': 'https://a.foo.example.com/x',
        'myapp://callback': 'myapp://callback',
      }
      for (const [target, sent] of Object.entries(fine)) {
        const location = (await follow(target)).headers.get('location') ?? ''
        assert.ok(location.startsWith(`${sent}#error=`), location)
      }
    },
  )

  for (const [target, sent] of Object.entries(rewritten)) {
    await t.test(
      `the checked URL is the one sent: ${JSON.stringify(target)} (property 50)`,
      async () => {
        const answer = await follow(target)
        const location = answer.headers.get('location')
        if (sent === undefined) assert.deepEqual([answer.status, location], [400, null])
        else assert.ok(location?.startsWith(`${sent}#error=`), `${location}`)
      },
    )
  }

  await t.test(
    'the same holds for a referrer and for the redirect in a link (property 50)',
    async () => {
      const headers = { referer: 'https://mine.example/mine/../evil/' }
      const answer = await send(url, '/verify?type=signup&token=none', { headers })
      assert.match(answer.headers.get('location') ?? '', /^https:\/\/site\.example#error=/)
      const { email } = await server.newUser()
      const redirectTo = encodeURIComponent('https://MINE.example/mine/./a/../\u00e4')
      await post(`/recover?redirect_to=${redirectTo}`, { email })
      const { searchParams } = (await server.mailTo(email)).url
      assert.equal(searchParams.get('redirect_to'), 'https://mine.example/mine/%C3%A4')
    },
  )

  await t.test(
    'a redirect_to has 2,048 characters at most, and a host 253 (property 49)',
    async () => {
      const long = (length: number) => 'https://site.example/'.padEnd(length, 'x')
      assert.equal((await follow(long(2_048))).status, 303)
      assert.equal((await follow(long(2_049))).status, 400)
      // The encoded form is longer.
      assert.equal((await follow(`https://site.example/${'\u{1f600}'.repeat(160)}`)).status, 303)
      assert.equal((await follow(`https://site.example/${'\u{1f600}'.repeat(180)}`)).status, 400)
      assert.equal((await follow(`https://${'a.'.repeat(120)}deep.example/`)).status, 303)
      assert.equal((await follow(`https://${'a.'.repeat(121)}deep.example/`)).status, 400)
    },
  )

  await t.test('a forbidden referrer is ignored (property 6)', async () => {
    for (const referer of ['https://evil.example/', 'https://site.example@evil.example']) {
      const answer = await send(url, '/verify?type=signup&token=none', { headers: { referer } })
      assert.match(answer.headers.get('location') ?? '', /^https:\/\/site\.example#error=/)
    }
  })

  await t.test('no request header changes the host of a link (property 6)', async () => {
    const { email } = await server.newUser()
    await post('/recover', { email }, { 'x-forwarded-host': 'evil.example', host: 'evil.example' })
    assert.equal((await server.mailTo(email)).url.origin, 'https://auth.example')
  })

  const tables = ['users', 'identities', 'sessions', 'one_time_tokens', 'flow_states', 'outbox']
  const readAll = async () => {
    const rows = []
    for (const table of [...tables, 'audit_log_entries', 'message_caps']) {
      // The sender runs in the background and updates other columns of the outbox.
      const columns = table === 'outbox' ? 't.id, t.kind, t.recipient, t.payload' : 't.*'
      rows.push(
        await server.query(
          `select ${columns} from ${table} t order by ${columns === 't.*' ? 't::text' : 't.id'}`,
        ),
      )
    }
    return JSON.stringify(rows)
  }
  const verifier = 'v'.repeat(43)
  const challenge = {
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 's256',
  }

  await t.test('a forbidden redirect has no effect (property 7)', async () => {
    const { email } = await server.newUser()
    const signedIn = await post('/token?grant_type=password', { email, password })
    const token = signedIn.body.access_token
    await post('/recover', { email })
    const mail = await server.mailTo(email)
    const evil = `redirect_to=${encodeURIComponent('https://evil.example')}`
    const body = { email, password, ...challenge }
    const unknown = { ...body, email: newEmail() }
    const admin = server.serviceToken
    const requests: readonly (readonly [string, string, object])[] = [
      ['POST', `/signup?${evil}`, { body: unknown }],
      ['POST', `/otp?${evil}`, { body }],
      ['POST', `/otp?${evil}`, { body: unknown }],
      ['POST', `/magiclink?${evil}`, { body: unknown }],
      ['POST', `/recover?${evil}`, { body }],
      ['POST', `/resend?${evil}`, { body: { ...body, type: 'signup' } }],
      ['PUT', `/user?${evil}`, { body: { email: newEmail(), data: { a: 1 } }, token }],
      ['POST', `/invite?${evil}`, { body: { email: newEmail() }, token: admin }],
      [
        'POST',
        `/admin/generate_link?${evil}`,
        { body: { type: 'magiclink', email: newEmail() }, token: admin },
      ],
      [
        'POST',
        '/admin/generate_link',
        {
          body: { type: 'recovery', email, redirect_to: 'https://evil.example' },
          token: admin,
        },
      ],
      ['GET', `/verify?type=recovery&token=${mail.token}&${evil}`, {}],
      [
        'POST',
        '/verify',
        { body: { type: 'recovery', token: mail.token, redirect_to: 'https://evil.example' } },
      ],
      ['POST', '/recover', { body, headers: { redirect_to: 'https://evil.example' } }],
    ]
    const before = await readAll()
    for (const [method, path, options] of requests) {
      const answer = await send(url, path, { ...options, method })
      assert.deepEqual(
        [answer.status, answer.body.msg],
        [400, 'redirect_to is not permitted'],
        path,
      )
    }
    assert.equal(await readAll(), before)
    const used = await send(url, mail.path)
    assert.ok(fragmentOf(used)['access_token'])
  })

  await t.test(
    'tokens are never in a query, and responses are not cached (property 8)',
    async () => {
      const { email } = await server.newUser()
      const kept: HttpAnswer[] = []
      const keep = (answer: HttpAnswer) => {
        kept.push(answer)
        return answer
      }
      const signedIn = keep(await post('/token?grant_type=password', { email, password }))
      const refresh = { refresh_token: signedIn.body.refresh_token }
      keep(await post('/token?grant_type=refresh_token', refresh))
      keep(await post('/token?grant_type=refresh_token', { refresh_token: 'x' }))
      keep(await send(url, '/user', { token: signedIn.body.access_token }))
      keep(await post('/signup', { email: newEmail(), password }))

      await post('/recover', { email })
      const implicit = keep(await send(url, (await server.mailTo(email)).path))
      keep(await send(url, (await server.mailTo(email)).path))
      await post('/otp', { email, ...challenge })
      server.clock.aheadMs += 61_000
      await post('/otp', { email, ...challenge })
      const link = await server.mailTo(email)
      const withCode = keep(await send(url, link.path))
      const code = queryOf(withCode)['code'] ?? ''
      const body = { auth_code: code, code_verifier: verifier }
      const exchanged = keep(await post('/token?grant_type=pkce', body))
      assert.ok(exchanged.body.access_token)
      const made = await send(url, '/admin/generate_link', {
        body: { type: 'magiclink', email },
        token: server.serviceToken,
      })
      const verified = { type: 'magiclink', token_hash: made.body.hashed_token }
      const another = keep(await post('/verify', verified))
      assert.ok(another.body.access_token)

      assert.ok(fragmentOf(implicit)['access_token'])
      for (const { headers, status } of kept) {
        assert.equal(headers.get('cache-control'), 'no-store', `${status}`)
        assert.equal(headers.get('referrer-policy'), 'no-referrer', `${status}`)
        const location = headers.get('location')
        if (location === null) continue
        const query = new URL(location).search
        assert.doesNotMatch(query, /token|eyJ/)
        if (query !== '') assert.equal(query, `?code=${code}`)
        assert.ok(location.startsWith(site))
      }
    },
  )
})
