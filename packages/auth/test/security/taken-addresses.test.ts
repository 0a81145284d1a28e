/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorOf } from '../support/flow-server.ts'
import { newEmail, send } from '../support/http-client.ts'
import { newPhone, openPhoneServer } from '../support/phone-server.ts'
import { newPerson, signInByLink } from './people.ts'

const tooMany = [429, 'over_request_rate_limit', 'Request rate limit reached']

test('addresses and phone numbers of other users', async (t) => {
  const server = await openPhoneServer(t, { AUTH_SMTP_MAX_FREQUENCY: '0' })
  if (!server) return
  const { url, clock } = server
  const newCaller = async () => {
    const { email } = await newPerson(server)
    const { access_token: token } = await signInByLink(server, email)
    return {
      email,
      put: (body: object) => send(url, '/user', { method: 'PUT', token, body }),
    }
  }

  await t.test(
    'a user can find out five times an hour that an address or number is taken (property 55)',
    async (t) => {
      t.after(() => {
        clock.aheadMs = 0
      })
      const caller = await newCaller()
      const { phone } = await server.newPerson()
      const taken = [{ email: (await newPerson(server)).email }, { phone }]
      const codes: unknown[] = []
      for (let at = 0; at < 5; at += 1) {
        codes.push((await caller.put(taken[at % 2] ?? {})).body.error_code)
      }
      const [email, number] = ['email_exists', 'phone_exists']
      assert.deepEqual(codes, [email, number, email, number, email])
      server.takeStatements()
      // From now on every request gets the same response.
      for (const body of [...taken, { email: newEmail() }, { phone: newPhone() }]) {
        const refused = await caller.put(body)
        assert.deepEqual(errorOf(refused), tooMany)
        assert.equal(refused.headers.get('retry-after'), '720')
      }
      assert.deepEqual([...new Set(server.takeStatements())], ['find_caller'])
      // Other changes and other users are not affected.
      assert.equal((await caller.put({ data: { name: 'Ada' } })).status, 200)
      assert.equal((await caller.put({ email: caller.email })).status, 200)
      const other = await newCaller()
      assert.equal((await other.put({ email: newEmail() })).status, 200)
      clock.aheadMs += 720_000
      assert.equal((await caller.put({ email: newEmail() })).status, 200)
    },
  )

  await t.test('addresses that are not taken do not count (property 55)', async () => {
    const caller = await newCaller()
    for (let at = 0; at < 7; at += 1) {
      assert.equal((await caller.put({ email: newEmail() })).status, 200)
    }
    const { email } = await newPerson(server)
    assert.equal((await caller.put({ email })).body.error_code, 'email_exists')
  })

  await t.test(
    'of many concurrent requests only five reveal a taken address (property 55)',
    async () => {
      const caller = await newCaller()
      const { email } = await newPerson(server)
      const answers = await Promise.all(Array.from({ length: 20 }, () => caller.put({ email })))
      const revealed = answers.filter(({ body }) => body.error_code === 'email_exists')
      assert.equal(revealed.length, 5)
    },
  )
})
