/**
 * @legs endurance
 * @servers postgres
 * @isolated measures response times, which concurrent tests would distort
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newEmail } from '../support/http-client.ts'
import {
  newPhone,
  openPhoneServer,
  type PhoneServer,
  toWrongCode,
} from '../support/phone-server.ts'

const samples = 200

/**
 * The probability that a time of `left` exceeds one of `right`; 0.5 means they are
 * indistinguishable.
 */
function areaUnderCurve(left: readonly number[], right: readonly number[]): number {
  let wins = 0
  for (const a of left) for (const b of right) wins += a > b ? 1 : a === b ? 0.5 : 0
  return wins / (left.length * right.length)
}

interface TimedRequest {
  /**
   * Creates a user.
   * @returns the address or phone number.
   */
  readonly makeKnown: (server: PhoneServer) => Promise<string>
  readonly makeUnknown: () => string
  readonly toRequest: (name: string) => { readonly path: string; readonly body: object }
}

async function makeUser(server: PhoneServer, user: object): Promise<void> {
  const headers = { authorization: `Bearer ${server.serviceToken}` }
  const { status, body } = await server.post('/admin/users', user, headers)
  assert.equal(status, 200, JSON.stringify(body))
}

async function makeEmail(server: PhoneServer): Promise<string> {
  const email = newEmail()
  await makeUser(server, { email, email_confirm: true })
  return email
}

async function makePhone(server: PhoneServer): Promise<string> {
  const phone = newPhone()
  await makeUser(server, { phone, phone_confirm: true })
  return phone
}

const byEmail = { makeKnown: makeEmail, makeUnknown: newEmail }
const byPhone = { makeKnown: makePhone, makeUnknown: newPhone }
const wrong = toWrongCode('000000')

const timedRequests: Readonly<Record<string, TimedRequest>> = {
  'POST /recover': { ...byEmail, toRequest: (email) => ({ path: '/recover', body: { email } }) },
  'POST /resend': {
    ...byEmail,
    toRequest: (email) => ({ path: '/resend', body: { type: 'signup', email } }),
  },
  'POST /otp that creates no user': {
    ...byEmail,
    toRequest: (email) => ({ path: '/otp', body: { email, create_user: true } }),
  },
  'POST /otp to a phone, that creates no user': {
    ...byPhone,
    toRequest: (phone) => ({ path: '/otp', body: { phone, create_user: true } }),
  },
  'POST /verify with a wrong email code': {
    async makeKnown(server) {
      const email = await makeEmail(server)
      await server.post('/recover', { email })
      return email
    },
    makeUnknown: newEmail,
    toRequest: (email) => ({ path: '/verify', body: { type: 'recovery', email, token: wrong } }),
  },
  'POST /verify with a wrong SMS code': {
    async makeKnown(server) {
      const phone = await makePhone(server)
      await server.post('/otp', { phone })
      return phone
    },
    makeUnknown: newPhone,
    toRequest: (phone) => ({ path: '/verify', body: { type: 'sms', phone, token: wrong } }),
  },
}

test('the response time does not reveal who has an account (property 45)', async (t) => {
  const server = await openPhoneServer(t)
  if (!server) return
  for (const [name, { makeKnown, makeUnknown, toRequest }] of Object.entries(timedRequests)) {
    await t.test(`${name} (property 45)`, async (t) => {
      const known: string[] = []
      for (let at = 0; at < samples; at += 1) known.push(await makeKnown(server))
      await server.untilAnswered()
      const time = async (recipient: string) => {
        const { path, body } = toRequest(recipient)
        const start = performance.now()
        const { status } = await server.post(path, body)
        const took = performance.now() - start
        assert.equal(status, path === '/verify' ? 403 : 200)
        // Background work of the request must not delay the next one.
        await server.untilAnswered()
        return took
      }
      for (let at = 0; at < 20; at += 1) await time(makeUnknown())
      const times = { known: [] as number[], unknown: [] as number[] }
      for (const [at, recipient] of known.entries()) {
        const order =
          at % 2 === 0 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const)
        for (const who of order) {
          times[who].push(await time(who === 'known' ? recipient : makeUnknown()))
        }
      }
      const area = areaUnderCurve(times.known, times.unknown)
      t.diagnostic(`area under the curve: ${area.toFixed(3)}`)
      assert.ok(area > 0.4 && area < 0.6, `${area}`)
    })
  }
})
