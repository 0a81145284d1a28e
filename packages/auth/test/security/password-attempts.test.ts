/**
 * @servers postgres, redis
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from '@portcullis/test-servers'
import { openAuthServer } from '../support/auth-server.ts'
import { errorOf, type FlowServer, openFlowServer } from '../support/flow-server.ts'
import { type HttpAnswer, newEmail, password, send } from '../support/http-client.ts'

const wrong = [400, 'invalid_credentials', 'Invalid login credentials']
const tooMany = [429, 'over_request_rate_limit', 'Request rate limit reached']

const login = (url: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
  send(url, '/token?grant_type=password', { body, headers })

const from = (address: string) => ({ 'x-forwarded-for': address })

/** Returns a different wrong password each time. */
let guesses = 0
const guess = () => `wrong ${++guesses}`

async function newUser({ url, serviceToken: token }: Pick<FlowServer, 'url' | 'serviceToken'>) {
  const email = newEmail()
  await send(url, '/admin/users', { token, body: { email, password, email_confirm: true } })
  return email
}

function secondsToWait({ headers }: HttpAnswer): number {
  return Number(headers.get('retry-after'))
}

test('guessing passwords', async (t) => {
  const server = await openFlowServer(t, { AUTH_TRUSTED_HOPS: '1' })
  if (!server) return
  const { url, clock } = server

  await t.test(
    'ten wrong passwords for an account block further guesses (property 30)',
    async () => {
      const email = await newUser(server)
      for (let at = 0; at < 10; at += 1) {
        assert.deepEqual(errorOf(await login(url, { email, password: guess() })), wrong)
      }
      server.takeStatements()
      // The right password is not checked, whatever the spelling of the account.
      for (const name of [email, email.toUpperCase()]) {
        const refused = await login(url, { email: name, password })
        assert.deepEqual(errorOf(refused), tooMany)
        assert.equal(secondsToWait(refused), 90)
      }
      assert.deepEqual(server.takeStatements(), [])
      // Other users at this address and the owner at another address are not affected.
      assert.equal((await login(url, { email: await newUser(server), password })).status, 200)
      assert.equal((await login(url, { email, password }, from('203.0.113.9'))).status, 200)
      assert.deepEqual(errorOf(await login(url, { email, password })), tooMany)
    },
  )

  await t.test(
    'the block is short, and guesses come back one at a time (property 30)',
    async (t) => {
      t.after(() => {
        clock.aheadMs = 0
      })
      const email = await newUser(server)
      for (let at = 0; at < 10; at += 1) await login(url, { email, password: guess() })
      clock.aheadMs += 89_000
      assert.deepEqual(errorOf(await login(url, { email, password: guess() })), tooMany)
      clock.aheadMs += 1_000
      assert.deepEqual(errorOf(await login(url, { email, password: guess() })), wrong)
      assert.deepEqual(errorOf(await login(url, { email, password: guess() })), tooMany)
      clock.aheadMs += 90_000
      assert.equal((await login(url, { email, password })).status, 200)
    },
  )

  await t.test(
    'a right password resets the wrong ones from its address (property 30)',
    async () => {
      const email = await newUser(server)
      for (const rounds of [9, 9, 10]) {
        for (let at = 0; at < rounds; at += 1) {
          assert.deepEqual(errorOf(await login(url, { email, password: guess() })), wrong)
        }
        const status = rounds === 10 ? 429 : 200
        assert.equal((await login(url, { email, password })).status, status)
      }
      // A success from another address does not reset them.
      const elsewhere = from('203.0.113.10')
      assert.equal((await login(url, { email, password }, elsewhere)).status, 200)
      assert.equal((await login(url, { email, password })).status, 429)
    },
  )

  await t.test('unknown accounts are refused in the same way (property 30)', async () => {
    const known = await newUser(server)
    const unknown = newEmail()
    const phones = { phone: '15550100' }
    const transcript = async (who: object) => {
      const lines: unknown[] = []
      for (let at = 0; at < 12; at += 1) {
        const answer = await login(url, { ...who, password: guess() }, from('203.0.113.11'))
        lines.push([...errorOf(answer), answer.headers.get('retry-after')])
      }
      return lines
    }
    const expected = await transcript({ email: known })
    assert.deepEqual(expected[11], [...tooMany, '90'])
    assert.deepEqual(await transcript({ email: unknown }), expected)
    // This includes a name that the database cannot store.
    assert.deepEqual(await transcript({ email: 'nul\0@example.com' }), expected)
    assert.equal((await login(url, { ...phones, password })).status, 422)
  })

  await t.test('of fifty concurrent guesses only ten are checked (property 30)', async () => {
    const email = await newUser(server)
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => login(url, { email, password: guess() })),
    )
    const codes = answers.map(({ body }) => body.error_code)
    assert.equal(codes.filter((code) => code === 'invalid_credentials').length, 10)
    assert.equal(codes.filter((code) => code === 'over_request_rate_limit').length, 40)
    const other = await newUser(server)
    const logins = await Promise.all(
      Array.from({ length: 40 }, () => login(url, { email: other, password })),
    )
    assert.deepEqual(new Set(logins.map(({ status }) => status)), new Set([200]))
  })

  await t.test(
    'the password cannot be guessed in a stolen session either (property 30)',
    async () => {
      const email = await newUser(server)
      const { body } = await login(url, { email, password })
      const change = () =>
        send(url, '/user', {
          method: 'PUT',
          token: body.access_token,
          body: { password: 'another correct horse', current_password: guess() },
        })
      for (let at = 0; at < 10; at += 1) {
        assert.equal((await change()).body.error_code, 'current_password_invalid')
      }
      assert.deepEqual(errorOf(await change()), tooMany)
      assert.deepEqual(errorOf(await login(url, { email, password })), tooMany)
    },
  )
})

test('guessing from many addresses is slowed, and the owner can still sign in (property 30)', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_TRUSTED_HOPS: '1',
    AUTH_RATE_LIMIT_PASSWORD_ACCOUNT: '20',
  })
  if (!server) return
  const { url, clock } = server
  const home = from('2001:db8:1:2::1')
  const email = await newUser(server)
  assert.equal((await login(url, { email, password }, home)).status, 200)
  const unknown = newEmail()
  for (const name of [email, unknown]) {
    const answers: unknown[] = []
    for (let at = 0; at < 22; at += 1) {
      const body = { email: name, password: guess() }
      answers.push(errorOf(await login(url, body, from(`203.0.113.${at}`))))
    }
    assert.deepEqual(answers, [...Array(20).fill(wrong), tooMany, tooMany])
    const refused = await login(url, { email: name, password }, from('198.51.100.1'))
    assert.deepEqual(errorOf(refused), tooMany)
    assert.equal(secondsToWait(refused), 180)
  }
  // The owner has another address of the same network today.
  const again = from('2001:db8:1:2:3::4')
  for (let at = 0; at < 3; at += 1) {
    assert.deepEqual(errorOf(await login(url, { email, password: guess() }, again)), wrong)
    assert.equal((await login(url, { email, password }, again)).status, 200)
  }
  // A client at that address has ten guesses as well, and no more.
  for (let at = 0; at < 10; at += 1) await login(url, { email, password: guess() }, again)
  assert.deepEqual(errorOf(await login(url, { email, password }, again)), tooMany)
  // At another address the owner has to wait, but only for minutes.
  clock.aheadMs += 3_600_000
  assert.equal((await login(url, { email, password }, from('198.51.100.1'))).status, 200)
})

test('servers that share a Redis count wrong passwords together (property 30)', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  // With a short timeout a busy machine could be taken for a lost Redis, and servers would count
  // alone.
  const env = { AUTH_RATE_LIMIT_SERVICE_URL: redis.url, AUTH_RATE_LIMIT_SERVICE_TIMEOUT: '10s' }
  const first = await openFlowServer(t, env)
  if (!first) return
  const { databaseUrl, schema } = first
  const second = await openAuthServer(t, {
    env,
    database: { url: databaseUrl, schema },
  })
  if (!second) return
  const urls = [first.url, second.url]
  const email = await newUser(first)
  for (let at = 0; at < 5; at += 1) {
    for (const url of urls) {
      assert.deepEqual(errorOf(await login(url, { email, password: guess() })), wrong)
    }
  }
  for (const url of urls) {
    assert.deepEqual(errorOf(await login(url, { email, password })), tooMany)
  }
  // Both servers see a right password.
  const other = await newUser(first)
  for (let at = 0; at < 9; at += 1) await login(first.url, { email: other, password: guess() })
  assert.equal((await login(second.url, { email: other, password })).status, 200)
  for (let at = 0; at < 9; at += 1) {
    assert.deepEqual(errorOf(await login(first.url, { email: other, password: guess() })), wrong)
  }
})

test('both password limits can be disabled (property 30)', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_RATE_LIMIT_PASSWORD: 'off',
    AUTH_RATE_LIMIT_PASSWORD_ACCOUNT: '0',
  })
  if (!server) return
  const email = await newUser(server)
  for (let at = 0; at < 110; at += 1) {
    assert.deepEqual(errorOf(await login(server.url, { email, password: guess() })), wrong)
  }
})
