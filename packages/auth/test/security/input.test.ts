/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { errorOf, openFlowServer } from '../support/flow-server.ts'
import { type HttpAnswer, newEmail, password, send } from '../support/http-client.ts'
import { newPerson, signInByLink } from './people.ts'

test('unusual input', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const { url, post, query } = server
  const { id, email } = await newPerson(server)
  const { access_token: token } = await signInByLink(server, email)
  const put = (body: unknown) => send(url, '/user', { method: 'PUT', body, token })
  const signIn = (address: string, word: string) =>
    post('/token?grant_type=password', { email: address, password: word })
  const signUp = async (word: string) => {
    const address = newEmail()
    const answer = await post('/signup', { email: address, password: word })
    await query('update users set email_confirmed_at = now() where email = $1', [address])
    return { email: address, answer }
  }

  await t.test(
    'the whole password is compared, and one that is too long is refused (property 26)',
    async () => {
      const long = 'é'.repeat(36)
      const { email: address, answer } = await signUp(long)
      assert.equal(answer.status, 200)
      const almost = [long.slice(0, 35), `${long.slice(0, 35)}ê`]
      for (const word of almost) {
        assert.equal((await signIn(address, word)).body.error_code, 'invalid_credentials', word)
      }
      assert.equal((await signIn(address, long)).status, 200)
      for (const word of [`${long}x`, 'x'.repeat(73), '🔑'.repeat(19)]) {
        assert.deepEqual(errorOf((await signUp(word)).answer), [
          400,
          'validation_failed',
          'Password cannot be longer than 72 characters',
        ])
        assert.equal(errorOf(await put({ password: word }))[0], 400)
      }
      const endless = await signIn(address, 'x'.repeat(500_000))
      assert.deepEqual([endless.status, endless.body.error_code], [400, 'invalid_credentials'])
    },
  )

  await t.test('a NUL byte does not truncate a password (property 26)', async () => {
    const { email: address, answer } = await signUp('secret\0one')
    if (answer.status === 200) {
      for (const word of ['secret', 'secret\0', 'secret\0two', 'secret\0one\0']) {
        assert.equal((await signIn(address, word)).body.error_code, 'invalid_credentials', word)
      }
      assert.equal((await signIn(address, 'secret\0one')).status, 200)
    } else {
      assert.equal(answer.status, 400)
    }
  })

  await t.test('a password that only looks the same does not match (property 26)', async () => {
    const composed = 'caf\u00e9 caf\u00e9'
    const { email: address } = await signUp(composed)
    const decomposed = composed.normalize('NFD')
    assert.equal((await signIn(address, decomposed)).status, 400)
    assert.equal((await signIn(address, composed)).status, 200)
  })

  await t.test('no text in any field causes a server error (property 26)', async () => {
    const texts = [
      '\0',
      'a\0@b.example',
      '\ud800',
      '\u{1f511}',
      "' or 1=1 --",
      '%00',
      '\r\n',
      '../',
    ]
    const bodies = (text: string): readonly (readonly [string, unknown])[] => [
      ['/signup', { email: text, password }],
      ['/signup', { email: newEmail(), password: text }],
      ['/signup', { phone: text, password }],
      ['/signup', { email: newEmail(), password: 'short', data: { [text]: text } }],
      ['/otp', { email: text }],
      ['/otp', { phone: text }],
      ['/magiclink', { email: text, data: { [text]: text } }],
      ['/recover', { email: text }],
      ['/recover', { email, code_challenge: text, code_challenge_method: text }],
      ['/resend', { type: text, email }],
      ['/resend', { type: 'signup', email: text }],
      ['/verify', { type: text, token: text, email }],
      ['/verify', { type: 'signup', token: text, email: text }],
      ['/verify', { type: 'signup', token: text, email }],
      ['/verify', { type: 'signup', token_hash: text }],
      ['/verify', { type: 'sms', token: text, phone: text }],
      ['/token?grant_type=password', { email: text, password }],
      ['/token?grant_type=password', { phone: text, password }],
      ['/token?grant_type=refresh_token', { refresh_token: text }],
      ['/token?grant_type=pkce', { auth_code: text, code_verifier: text }],
      [`/token?grant_type=${encodeURIComponent(text.toWellFormed())}`, {}],
      [`/recover?redirect_to=${encodeURIComponent(text.toWellFormed())}`, { email }],
    ]
    for (const text of texts) {
      for (const [path, body] of bodies(text)) {
        const { status, body: answer } = await post(path, body)
        const what = `${path} ${JSON.stringify(body)} ${JSON.stringify(answer)}`
        assert.ok(status < 500, what)
      }
      const answers = [
        await put({ data: { [text]: text } }),
        await put({ email: text }),
        await put({ nonce: text, password: text, current_password: text }),
        await send(url, `/verify?type=signup&token=${encodeURIComponent(text.toWellFormed())}`),
        await send(url, `/verify?type=${encodeURIComponent(text.toWellFormed())}&token=x`),
        await send(url, `/logout?scope=${encodeURIComponent(text.toWellFormed())}`, {
          method: 'POST',
          token,
        }),
        ...(await Promise.all(
          [
            `/admin/users?filter=${encodeURIComponent(text.toWellFormed())}`,
            `/admin/users?sort=${encodeURIComponent(text.toWellFormed())}`,
            `/admin/users?page=${encodeURIComponent(text.toWellFormed())}`,
            `/admin/users?limit=1&cursor=${encodeURIComponent(text.toWellFormed())}`,
            `/admin/users/${encodeURIComponent(text.toWellFormed())}`,
            `/admin/audit?query=author:${encodeURIComponent(text.toWellFormed())}`,
            ...['user', 'name', 'address', 'action', 'from', 'before', 'after'].map(
              (name) => `/admin/events?${name}=${encodeURIComponent(text.toWellFormed())}`,
            ),
          ].map((path) => send(url, path, { token: server.serviceToken })),
        )),
        await send(url, '/admin/users', {
          body: { email: newEmail(), role: text, user_metadata: { [text]: text } },
          token: server.serviceToken,
        }),
        await send(url, '/admin/users', {
          body: { email: newEmail(), app_metadata: { [text]: text }, ban_duration: text },
          token: server.serviceToken,
        }),
      ]
      for (const { status, body } of answers) {
        assert.ok(status < 500, `${JSON.stringify(text)} ${JSON.stringify(body)}`)
      }
    }
  })

  await t.test('an overlong audience is refused for every caller (property 26)', async () => {
    const endless = { 'x-jwt-aud': randomBytes(4_000).toString('base64url') }
    const refusal = [400, 'validation_failed', 'The audience is not allowed']
    for (const address of [email, newEmail()]) {
      for (const path of ['/signup', '/magiclink']) {
        const answer = await post(path, { email: address, password }, endless)
        assert.deepEqual(errorOf(answer), refusal, `${path} for ${address}`)
      }
    }
  })

  await t.test('names of object methods are not accepted as values (property 26)', async () => {
    const admin = { token: server.serviceToken }
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      const answers: readonly HttpAnswer[] = await Promise.all([
        post(`/token?grant_type=${name}`, {}),
        post('/resend', { type: name, email }),
        post('/verify', { type: name, token_hash: 'x' }),
        post('/verify', { type: name, token: '123456', email }),
        send(url, `/logout?scope=${name}`, { method: 'POST', token }),
        send(url, '/admin/generate_link', { body: { type: name, email }, ...admin }),
        send(url, `/admin/audit?query=${name}:x`, admin),
        send(url, `/admin/events?action=${name}`, admin),
        send(url, `/admin/events?reason=${name}`, admin),
        send(url, `/admin/users?sort=${name}`, admin),
        post('/otp', { phone: '15550100', channel: name }),
        post('/recover', {
          email,
          code_challenge: 'c'.repeat(43),
          code_challenge_method: name,
        }),
      ])
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [400], name)
    }
  })

  await t.test('no field type causes a server error (property 26)', async () => {
    const values = [1, true, [], ['x'], {}, { $gt: '' }]
    const fields = ['email', 'phone', 'password', 'token', 'refresh_token', 'data', 'type', 'nonce']
    const paths = [
      '/signup',
      '/otp',
      '/recover',
      '/verify',
      '/token?grant_type=password',
      '/resend',
    ]
    for (const path of paths) {
      for (const value of values) {
        const body = Object.fromEntries(fields.map((field) => [field, value]))
        const { status } = await post(path, body)
        assert.ok(status >= 400 && status < 500, `${path} ${JSON.stringify(value)} ${status}`)
      }
      for (const text of ['', 'null', '[]', '1', '"x"', '{', '{"a":1', 'a=b', '\ufeff{}', '{}{}']) {
        const { status } = await post(path, text)
        assert.ok(status >= 400 && status < 500, `${path} ${text} ${status}`)
      }
    }
  })

  await t.test('long and deeply nested JSON is refused (property 26)', async () => {
    const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
    const list = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
    const refused: readonly (readonly [number, string])[] = [
      [400, `{"data":${deep(201)}}`],
      [400, `{"data":${deep(100_000)}}`],
      [400, `{"data":{"a":${list(200_000)}}}`],
      [400, list(400_000)],
      [413, `{"data":{"a":"${'x'.repeat(1_048_576)}"}}`],
    ]
    for (const [status, body] of refused) {
      assert.equal((await put(body)).status, status, body.slice(0, 40))
    }
    // Fields that are not read do not matter.
    assert.equal((await put(`{"unknown":${deep(100_000)}}`)).status, 200)
    const many = Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`k${at}`, at]))
    assert.equal((await put({ data: many })).status, 200)
    const none = Object.fromEntries(Object.keys(many).map((key) => [key, null]))
    assert.equal((await put({ data: none })).status, 200)
  })

  await t.test('names on the prototype are treated like any other (property 26)', async () => {
    const evil =
      '{"__proto__":{"polluted":1,"role":"service_role"},"constructor":{"prototype":{"polluted":1}},' +
      '"toString":"x","hasOwnProperty":1,"valueOf":{}}'
    const answer = await put(`{"data":${evil},"__proto__":{"email":"x@y.z"},"constructor":1}`)
    assert.equal(answer.status, 200)
    assert.equal(Object.hasOwn({}, 'polluted') || 'polluted' in {}, false)
    const [row] = await query('select raw_user_meta_data::text as data from users where id = $1', [
      id,
    ])
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf']) {
      assert.ok(Object.hasOwn(JSON.parse(row.data), name), name)
    }
    const own = await send(url, '/user', { token })
    assert.equal(own.body.user_metadata.toString, 'x')
    assert.equal(own.body.role, '')
    const address = newEmail()
    const created = await post(
      '/signup',
      `{"email":"${address}","password":"${password}","data":${evil}}`,
    )
    assert.equal(created.status, 200)
    const made = await send(url, '/admin/users', {
      body: `{"email":"${newEmail()}","user_metadata":${evil},"app_metadata":${evil}}`,
      token: server.serviceToken,
    })
    assert.equal(made.status, 200)
    assert.equal(made.body.role, '')
    const removed = await put('{"data":{"__proto__":null,"constructor":null,"toString":null}}')
    assert.deepEqual(
      ['__proto__', 'constructor', 'toString'].filter((name) =>
        Object.hasOwn(removed.body.user_metadata, name),
      ),
      [],
    )
  })

  await t.test(
    'an address has one spelling, and no other address shares it (property 27)',
    async () => {
      const address = newEmail()
      await post('/magiclink', { email: address.toUpperCase() })
      await post('/magiclink', { email: address })
      const rows = await query('select email from users where lower(email) = $1', [address])
      assert.deepEqual(rows, [{ email: address }])
      const [name = '', host = ''] = address.split('@')
      const refused = [
        `${address}.`,
        ` ${address}`,
        `${address} `,
        `${address}\n`,
        `${address}\r\nBcc: all@example.com`,
        `a\r\nb@example.com`,
        `${name}@${host}\0`,
        `"${name}"@${host}`,
        `${name}@${host},other@example.com`,
        `${name}@${host}, other@example.com`,
        `<${address}>`,
        `Ada <${address}>`,
        `${address}(comment)`,
        `${name}@@${host}`,
        `${name}@[127.0.0.1]`,
        `${name}@${host}%0d%0a`,
        // These letters look like others or become others in lower case.
        `аdmin@example.com`,
        `\u212aate@example.com`,
        `${name}@ехample.com`,
        `${name}@example\u3002com`,
        `İ@example.com`,
        `${'a'.repeat(256)}@example.com`,
      ]
      for (const email of refused) {
        for (const path of ['/signup', '/otp', '/magiclink', '/recover']) {
          const answer = await post(path, { email, password })
          assert.equal(answer.status, 400, `${path} ${JSON.stringify(email)}`)
          assert.equal(answer.body.error_code, 'validation_failed')
        }
        const made = await send(url, '/admin/users', {
          body: { email },
          token: server.serviceToken,
        })
        assert.equal(made.status, 400, JSON.stringify(email))
        const verified = await post('/verify', { type: 'signup', token: '123456', email })
        assert.equal(verified.status, 422, JSON.stringify(email))
        assert.equal((await put({ email })).status, 400, JSON.stringify(email))
      }
      assert.deepEqual(await query("select 1 from outbox where recipient ~ '[^ -~]|[ ,<>]'"), [])
    },
  )
})
