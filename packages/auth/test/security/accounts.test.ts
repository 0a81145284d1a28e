/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from 'pg'
import { writtenFormats } from '../../src/passwords/formats/index.ts'
import { openFlowServer } from '../support/flow-server.ts'
import { type HttpAnswer, newEmail, password, sdk, send } from '../support/http-client.ts'
import { newPhone, openPhoneServer } from '../support/phone-server.ts'
import { openCountedServer } from './counted-server.ts'

test('responses do not reveal who has an account', async (t) => {
  const server = await openCountedServer(t)
  if (!server) return
  const { url } = server
  const client = new Client({
    connectionString: server.databaseUrl,
    options: `-c search_path=${server.schema}`,
  })
  await client.connect()
  t.after(() => client.end())

  const post = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    send(url, path, { body, headers })
  const hash = await writtenFormats.bcrypt.hash(password)
  const newUser = async (change: string) => {
    const email = newEmail()
    // Users are inserted without a password hash, because hashing is slow.
    await post('/magiclink', { email, data: { secret: 'of theirs' } }, sdk)
    await client.query('update users set encrypted_password = $2 where email = $1', [email, hash])
    await client.query(`update users set ${change} where email = $1`, [email])
    await client.query('delete from message_gaps')
    return { email }
  }
  const confirmed = 'email_confirmed_at = now(), confirmation_sent_at = null'
  const people = {
    'a new user': async () => newEmail(),
    'a confirmed user': async () => (await newUser(confirmed)).email,
    'an unconfirmed user': async () =>
      (await newUser("created_at = now() - interval '1 day', confirmation_sent_at = null")).email,
    'an unconfirmed user who was written to just now': async () =>
      (await newUser('updated_at = now()')).email,
    'an invited user': async () =>
      (await newUser('invited_at = now(), encrypted_password = null')).email,
    'a banned user': async () =>
      (await newUser(`${confirmed}, banned_until = now() + interval '1 day'`)).email,
    'a user with another role': async () =>
      (await newUser(`${confirmed}, role = 'service_role'`)).email,
    'a user of another audience': async () => (await newUser(`${confirmed}, aud = 'x'`)).email,
  } as const

  /** The whole response except for the address and the random ids. */
  const toLetters = ({ status, body, headers }: HttpAnswer, email: string) =>
    JSON.stringify({
      status,
      body,
      headers: [...headers].filter(([name]) => name !== 'date' && name !== 'content-length'),
    })
      .replaceAll(email, 'EMAIL')
      .replaceAll(/[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}/g, 'ID')

  const requests = {
    'POST /signup (properties 1 and 2)': (email: string) =>
      post('/signup', { email, password, data: { zz: 1, a: { y: 1, x: 2 }, name: 'Ada' } }),
    'POST /recover (property 3)': (email: string) => post('/recover', { email }),
    'POST /otp (property 3)': (email: string) => post('/otp', { email }),
    'POST /otp that creates no user (property 3)': (email: string) =>
      post('/otp', { email, create_user: true }),
    'POST /otp from the client library (property 3)': (email: string) =>
      post('/otp', { email }, sdk),
    'POST /magiclink (property 3)': (email: string) => post('/magiclink', { email }),
    'POST /resend for a sign-up (property 3)': (email: string) =>
      post('/resend', { type: 'signup', email }),
    'POST /resend for an email change (property 3)': (email: string) =>
      post('/resend', { type: 'email_change', email }),
    'POST /token with a wrong password (property 4)': (email: string) =>
      post('/token?grant_type=password', { email, password: 'wrong' }),
    'POST /token with a password that is too long (property 63)': (email: string) =>
      post('/token?grant_type=password', { email, password: 'x'.repeat(73) }),
    'POST /verify with digits (property 3)': (email: string) =>
      post('/verify', { type: 'email', email, token: '000000' }),
  } as const

  for (const [name, request] of Object.entries(requests)) {
    await t.test(`${name} gets the same response for everyone, also repeatedly`, async () => {
      const answers = new Map<string, string>()
      for (const [who, find] of Object.entries(people)) {
        const email = await find()
        server.takeCost()
        const first = await request(email)
        const { hashes } = server.takeCost()
        assert.equal(hashes, /signup|token/.test(name) ? 1 : 0, who)
        const second = name.includes('/token') ? first : await request(email)
        answers.set(who, `${toLetters(first, email)}\n${toLetters(second, email)}`)
        if (name.includes('/signup')) {
          assert.equal(first.status, 200)
          // After the cooldown, the account is still unchanged.
          await client.query('delete from message_gaps')
          const third = await request(email)
          assert.equal(third.body.id, first.body.id, who)
          assert.equal(
            third.body.identities[0].identity_id,
            first.body.identities[0].identity_id,
            who,
          )
        }
        if (!/token|verify/.test(name)) {
          const { status, body, headers } = second
          const [code, text] = [body.error_code ?? body.code, body.msg ?? body.message]
          assert.deepEqual([status, code], [429, 'over_email_send_rate_limit'], who)
          assert.ok(text.endsWith(`after ${headers.get('retry-after')} seconds.`), text)
        }
      }
      const expected = answers.get('a new user')
      for (const [who, actual] of answers) assert.equal(actual, expected, who)
    })
  }

  await t.test('a repeated sign-up reveals nothing about the account (property 1)', async () => {
    for (const change of [confirmed, 'updated_at = now()']) {
      const { email } = await newUser(change)
      const { body } = await post('/signup', { email, password: 'another one', data: { mine: 1 } })
      assert.doesNotMatch(JSON.stringify(body), /of theirs/)
      assert.equal(body.user_metadata.mine, 1)
    }
  })

  await t.test('the client library gets no more information (property 1)', async () => {
    const { email } = await newUser(confirmed)
    const other = newEmail()
    const known = await post('/signup', { email, password }, sdk)
    const fresh = await post('/signup', { email: other, password }, sdk)
    assert.equal(toLetters(known, email), toLetters(fresh, other))
  })

  await t.test('a request for another audience reveals nothing either (property 1)', async () => {
    const { email } = await newUser(confirmed)
    const headers = { 'x-jwt-aud': 'elsewhere' }
    const known = await post('/signup', { email, password }, headers)
    const other = newEmail()
    const fresh = await post('/signup', { email: other, password }, headers)
    assert.equal(toLetters(known, email), toLetters(fresh, other))
  })

  await t.test(
    'the same statements run whether or not a message is sent (property 3)',
    async () => {
      const statements = { '/recover': 1, '/magiclink': 2, '/otp': 2, '/resend': 1 }
      for (const [path, count] of Object.entries(statements)) {
        const { email } = await newUser(confirmed)
        const unconfirmed = (await newUser('updated_at = now()')).email
        for (const address of [email, unconfirmed, newEmail()]) {
          const counts = []
          for (let times = 0; times < 2; times += 1) {
            server.takeCost()
            await post(path, { email: address, type: 'signup' })
            counts.push(server.takeCost().statements.length)
          }
          // A refused request looks up the reason.
          assert.deepEqual(counts, [count, count + 1], path)
        }
      }
    },
  )

  await t.test(
    'no cooldown error reveals an account, in any order of requests (property 3)',
    async () => {
      // Each request leaves state for the next one; the clock is advanced where a cooldown could end.
      const steps = [
        ['/resend', 0],
        ['/signup', 0],
        ['/magiclink', 0],
        ['/otp', 61_000],
        ['/recover', 61_000],
        ['/otp', 0],
        ['/signup', 901_000],
        ['/recover', 0],
        ['/resend', 0],
        ['/magiclink', 61_000],
      ] as const
      for (const headers of [{}, sdk]) {
        const responses = new Map<string, readonly string[]>()
        for (const [who, find] of Object.entries(people)) {
          // Hashing is slow, so only some states are tested here; the others are covered above.
          if (/banned|role|invited|written to/.test(who)) continue
          const email = await find()
          const answers = []
          for (const [path, passedMs] of steps) {
            server.clock.nowMs += passedMs
            const answer = await post(path, { email, password, type: 'signup' }, headers)
            const { status, body } = answer
            const text =
              status === 200 ? '' : `${body.error_code ?? body.code} ${body.msg ?? body.message}`
            answers.push(`${path} ${status} ${answer.headers.get('retry-after')} ${text}`)
          }
          responses.set(who, answers)
        }
        const expected = responses.get('a new user')
        assert.deepEqual(
          expected?.map((line) => line.split(' ').slice(0, 2).join(' ')),
          [
            '/resend 200',
            '/signup 429',
            '/magiclink 200',
            '/otp 200',
            '/recover 200',
            '/otp 200',
            '/signup 200',
            '/recover 200',
            '/resend 429',
            '/magiclink 200',
          ],
        )
        for (const [who, actual] of responses) assert.deepEqual(actual, expected, who)
      }
    },
  )

  const oneStep = { unconfirmed: 'updated_at = now()', banned: "banned_until = 'infinity'" }
  for (const [state, change] of Object.entries(oneStep)) {
    await t.test(
      `a ${state} user gets the reason only after the right password (property 5)`,
      async () => {
        const { email } = await newUser(state === 'banned' ? `${confirmed}, ${change}` : change)
        const codes = []
        for (const candidate of ['wrong', password]) {
          const body = { email, password: candidate }
          codes.push((await post('/token?grant_type=password', body)).body.error_code)
        }
        const reason = state === 'banned' ? 'user_banned' : 'email_not_confirmed'
        assert.deepEqual(codes, ['invalid_credentials', reason])
      },
    )
  }

  await t.test(
    'a user without a password, or with an unknown hash format, costs a hash (property 4)',
    async () => {
      for (const hash of ['null', "''", "'$unknown$'"]) {
        const { email } = await newUser(`${confirmed}, encrypted_password = ${hash}`)
        server.takeCost()
        const { body } = await post('/token?grant_type=password', { email, password })
        assert.deepEqual([body.error_code, server.takeCost().hashes], ['invalid_credentials', 1])
      }
    },
  )
})

test('responses do not reveal who has a phone number (property 3)', async (t) => {
  const server = await openPhoneServer(t)
  if (!server) return
  const { post, query } = server
  const people = {
    'a new user': async () => newPhone(),
    'a confirmed user': async () => (await server.newPerson()).phone,
    'an unconfirmed user': async () => {
      const { id, phone } = await server.newPerson()
      await query('update users set phone_confirmed_at = null where id = $1', [id])
      return phone
    },
    'a user of another audience': async () => {
      const { id, phone } = await server.newPerson()
      await query("update users set aud = 'x' where id = $1", [id])
      return phone
    },
  } as const
  const steps = [
    ['/otp', 0, 200],
    ['/signup', 0, 429],
    ['/resend', 30_000, 429],
    ['/signup', 31_000, 200],
    ['/otp', 0, 429],
    ['/resend', 61_000, 200],
    ['/otp', 61_000, 200],
  ] as const
  for (const headers of [{}, sdk]) {
    const responses = new Map<string, readonly unknown[]>()
    for (const [who, find] of Object.entries(people)) {
      const phone = await find()
      const answers = []
      for (const [path, passedMs, expected] of steps) {
        server.clock.aheadMs += passedMs
        const body = { phone, password, type: 'sms' }
        const { status, body: answer, headers: received } = await post(path, body, headers)
        assert.equal(status, expected, `${path} of ${who}`)
        answers.push(received.get('retry-after'), status === 200 ? Object.keys(answer) : answer)
      }
      responses.set(who, answers)
    }
    const expected = responses.get('a new user')
    for (const [who, actual] of responses) assert.deepEqual(actual, expected, who)
  }
})

test('with sign-up disabled, responses do not reveal accounts (property 44)', async (t) => {
  const server = await openPhoneServer(t, { AUTH_DISABLE_SIGNUP: 'true' })
  if (!server) return
  const headers = { authorization: `Bearer ${server.serviceToken}` }
  const makeUser = (user: object) => server.post('/admin/users', user, headers)
  const invited = newEmail()
  await server.post('/invite', { email: invited }, headers)
  const confirmedEmail = newEmail()
  await makeUser({ email: confirmedEmail, email_confirm: true })
  const selfRegistered = newEmail()
  await makeUser({ email: selfRegistered })
  await server.query('update users set admin_data = null where email = $1', [selfRegistered])
  const waitingPhone = newPhone()
  await makeUser({ phone: waitingPhone })
  await server.query('delete from outbox')

  await t.test('everyone gets the same response (property 44)', async () => {
    const people = [
      { email: invited },
      { email: confirmedEmail },
      { email: selfRegistered },
      { email: newEmail() },
      { phone: waitingPhone },
      { phone: newPhone() },
    ]
    const requests = [
      [{}, {}],
      [{}, sdk],
      [{ create_user: false }, sdk],
    ] as const
    for (const [more, headers] of requests) {
      for (const name of people) {
        await server.query('delete from message_gaps')
        const { status, body } = await server.post('/otp', { ...name, ...more }, headers)
        // Clients of Supabase Auth get the ID of a text message, which is different for each.
        const isNamed = 'phone' in name && headers === sdk
        assert.deepEqual([status, Object.keys(body)], [200, isNamed ? ['message_id'] : []])
      }
    }
  })

  await t.test(
    'users that an administrator has invited or created can finish, an unconfirmed sign-up cannot (property 44)',
    async () => {
      const [mail] = await server.mailsTo(invited)
      const code = { type: 'email', email: invited, token: mail?.code }
      assert.equal((await server.post('/verify', code)).status, 200)
      const token = await server.codeTo(waitingPhone)
      const phone = await server.post('/verify', { type: 'sms', phone: waitingPhone, token })
      assert.equal(phone.status, 200)
      assert.equal((await server.mailsTo(confirmedEmail)).length, 3)
      assert.deepEqual(await server.mailsTo(selfRegistered), [])
    },
  )
})

test('no kind of message delays another (property 44)', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  for (const email of [(await server.newUser()).email, newEmail()]) {
    for (const path of ['/magiclink', '/recover', '/resend']) {
      assert.equal((await server.post(path, { email, type: 'signup' })).status, 200, path)
    }
  }
})
