/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { endpoints } from '../../src/features/index.ts'
import { jwtSecret } from '../support/auth-server.ts'
import { openFlowServer } from '../support/flow-server.ts'
import { newEmail, password, sdk, send } from '../support/http-client.ts'

/** Details of the machine, the database and the program that must not reach clients. */
const inner =
  /select |insert |update |relation|column|syntax|pg_|postgres|SQL|\bat \/|\.ts\b|node:|node_modules|Error:|stack/i

test('responses', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const { url, query } = server
  const token = server.serviceToken

  await t.test('SQL wildcards in a search match literally (property 34)', async () => {
    const add = async (name: string) =>
      send(url, '/admin/users', {
        body: { email: newEmail(), user_metadata: { full_name: name } },
        token,
      })
    for (const name of ['rate 100% sure', 'rate 100 sure', 'snake_case', 'snakeXcase', 'a\\b_c']) {
      await add(name)
    }
    const found = async (filter: string) => {
      const { body } = await send(url, `/admin/users?filter=${encodeURIComponent(filter)}`, {
        token,
      })
      return body.users
        .map(({ user_metadata: data }: { user_metadata: { full_name: string } }) => data.full_name)
        .sort()
    }
    assert.deepEqual(await found('%'), ['rate 100% sure'])
    assert.deepEqual(await found('100%'), ['rate 100% sure'])
    assert.deepEqual(await found('rate%sure'), [])
    assert.deepEqual(await found('_'), ['a\\b_c', 'snake_case'])
    assert.deepEqual(await found('snake_case'), ['snake_case'])
    assert.deepEqual(await found('\\'), ['a\\b_c'])
    assert.deepEqual(await found("' or '1'='1"), [])
    const author = 'wild_card%25'
    await query(
      `insert into audit_log_entries (id, payload) select gen_random_uuid(),
         jsonb_build_object('action', 'login', 'actor_username', name, 'log_type', 'account')
       from unnest($1::text[]) name`,
      [['wild_card%', 'wildXcardX', 'wild card']],
    )
    const search = async (text: string) =>
      (await send(url, `/admin/audit?query=author:${text}`, { token })).body.map(
        (entry: { payload: { actor_username: string } }) => entry.payload.actor_username,
      )
    assert.deepEqual(await search(author), ['wild_card%'])
    assert.deepEqual(await search('wild_'), ['wild_card%'])
    assert.deepEqual(await search('%25'), ['wild_card%'])
  })

  const clientHeaders = [
    ...['authorization', 'apikey', 'content-type', 'accept', 'x-client-info', 'x-client-ip'],
    ...['x-jwt-aud', 'x-use-cookie', 'x-supabase-api-version'],
  ]
  await t.test(
    'browsers may send every header of the client, from any origin (property 38)',
    async () => {
      // Programs call /ext-authz, with the method OPTIONS too.
      const forBrowsers = endpoints.filter(({ path }) => !path.startsWith('/ext-authz'))
      for (const { method, path } of forBrowsers) {
        const answer = await send(url, path, {
          method: 'OPTIONS',
          headers: {
            origin: 'https://app.example',
            'access-control-request-method': method,
            'access-control-request-headers': clientHeaders.join(','),
          },
        })
        assert.equal(answer.status, 204, path)
        const allowed = (answer.headers.get('access-control-allow-headers') ?? '').toLowerCase()
        for (const header of clientHeaders) assert.ok(allowed.split(', ').includes(header), header)
        const methods = answer.headers.get('access-control-allow-methods') ?? ''
        assert.ok(methods.split(', ').includes(method), method)
        assert.equal(answer.headers.get('access-control-allow-origin'), 'https://app.example')
        assert.match(answer.headers.get('vary') ?? '', /Origin/)
      }
    },
  )

  await t.test(
    'an invalid origin is not allowed, and there is no wildcard (property 38)',
    async () => {
      for (const path of ['/user', '/settings', '/nowhere']) {
        for (const method of ['GET', 'OPTIONS']) {
          for (const headers of [{ origin: 'null' }, {}]) {
            const answer = await send(url, path, { method, headers })
            assert.equal(answer.headers.get('access-control-allow-origin'), null)
            assert.equal(answer.headers.get('access-control-allow-credentials'), null)
          }
          const headers = { origin: 'https://evil.example' }
          const answer = await send(url, path, { method, headers })
          assert.notEqual(answer.headers.get('access-control-allow-origin'), '*')
          // This is harmless, because no credential is sent by browsers automatically.
          assert.equal(answer.headers.get('set-cookie'), null)
        }
      }
      const { body } = await send(url, '/magiclink', { body: { email: newEmail() } })
      assert.deepEqual(body, {})
      const cookies = { cookie: `sb-access-token=${token}; access_token=${token}` }
      assert.equal((await send(url, '/admin/users', { headers: cookies })).status, 401)
    },
  )

  await t.test('errors are JSON that no browser interprets as a page (property 39)', async () => {
    const evil = '<script>alert(1)</script>'
    const encoded = encodeURIComponent(evil)
    const answers = [
      await send(url, `/${encoded}`),
      await send(url, '/%zz'),
      await send(url, '/user'),
      await send(url, '/user', { method: 'PATCH', body: {} }),
      await send(url, `/verify?token=${encoded}&type=${encoded}&redirect_to=${encoded}`),
      await send(url, `/verify?token=x&type=${encoded}`),
      await send(url, '/signup', { body: evil }),
      await send(url, '/signup', { body: '{', headers: { 'content-type': 'text/html' } }),
      await send(url, '/signup', { body: { email: evil, password } }),
      await send(url, `/token?grant_type=${encoded}`, { body: {} }),
      await send(url, `/admin/users/${encoded}`, { token }),
      await send(url, `/admin/users?sort=${encoded}`, { token }),
      await send(url, `/logout?scope=${encoded}`, { method: 'POST', token }),
      await send(url, '/settings'),
      await send(url, '/.well-known/jwks.json'),
      await send(url, '/user', { headers: { accept: 'text/html', authorization: evil } }),
    ]
    for (const { headers, body, status } of answers) {
      const what = `${status} ${JSON.stringify(body).slice(0, 100)}`
      assert.equal(headers.get('x-content-type-options'), 'nosniff', what)
      if (body === '') continue
      assert.match(headers.get('content-type') ?? '', /^application\/json/, what)
      assert.equal(typeof body, 'object')
    }
  })

  await t.test(
    'responses to input that is not an HTTP request are JSON too (property 39)',
    async () => {
      const { hostname, port } = new URL(url)
      const requests = [
        'GET / HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n',
        '<script>alert(1)</script>\r\n\r\n',
        `GET /user HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${'x'.repeat(70_000)}\r\n\r\n`,
        'POST /signup HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      ]
      for (const request of requests) {
        const socket = connect(Number(port), hostname)
        socket.write(request)
        const answer = await text(socket)
        assert.match(answer, /^HTTP\/1\.1 4\d\d /)
        assert.doesNotMatch(answer, /text\/html|<script/)
      }
    },
  )

  await t.test('responses to bad requests reveal no internal details (property 32)', async () => {
    const bad = '\u0000\u0001{"'
    const answers = [
      await send(url, '/signup', { body: bad }),
      await send(url, '/signup', { body: '{"email":1}' }),
      await send(url, '/signup', { body: [] }),
      await send(url, '/token?grant_type=constructor', { body: {} }),
      await send(url, '/token?grant_type=__proto__', { body: {} }),
      await send(url, '/admin/users?page=99999999999999999999', { token }),
      await send(url, '/admin/users?per_page=-1', { token }),
      await send(url, '/admin/users?limit=1&cursor=AAAA', { token }),
      await send(url, '/admin/users/not-a-uuid', { token }),
      await send(url, '/admin/audit?query=nothing', { token }),
      await send(url, '/nowhere'),
    ]
    for (const { status, body } of answers) {
      const text = JSON.stringify(body)
      assert.ok(status < 500, text)
      assert.doesNotMatch(text, inner)
    }
  })

  // This test must be the last one, because it drops tables.
  await t.test('a failure returns an id, and the log has the details (property 32)', async () => {
    const email = newEmail()
    await query('alter table users rename to users_away')
    const requests = [
      send(url, '/signup', { body: { email, password } }),
      send(url, '/otp', { body: { email } }),
      send(url, '/token?grant_type=password', { body: { email, password }, headers: sdk }),
      send(url, '/admin/users', { token }),
      send(url, '/verify', { body: { type: 'signup', token_hash: 'x' } }),
      send(url, '/verify?type=signup&token=x'),
    ]
    for (const { status, body, headers } of await Promise.all(requests)) {
      assert.equal(status, 500)
      const { error_id: id, ...rest } = body
      assert.match(id, /^[\da-f-]{36}$/)
      assert.doesNotMatch(JSON.stringify(rest), inner)
      const texts = new Set(Object.values(rest).filter((value) => typeof value === 'string'))
      texts.delete('unexpected_failure')
      assert.deepEqual(
        [...texts],
        ['Unexpected failure, please check server logs for more information'],
      )
      for (const secret of [email, password, jwtSecret, token]) {
        assert.ok(!JSON.stringify([...headers]).includes(secret))
      }
      assert.ok(server.log.some((line) => line.includes(id) && /users/.test(line)))
    }
    const lines = server.log.join('\n')
    for (const secret of [password, jwtSecret, token]) assert.ok(!lines.includes(secret))
    await query('alter table users_away rename to users')
  })
})
