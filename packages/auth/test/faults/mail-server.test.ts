/**
 * @legs safety
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { containsSecret } from '../support/contains-secret.ts'
import { type BehaviourName, openFaultyMailServer } from '../support/faulty-mail-server.ts'
import { openFlowServer } from '../support/flow-server.ts'
import { newEmail, password, send } from '../support/http-client.ts'
import { until } from '../support/outbox.ts'
import { newPhone, phoneEnvironment } from '../support/phone-server.ts'
import { openGatewayServer } from '../support/sms-gateways.ts'

/** Makes messages that wait for a retry due; running attempts have a longer lease. */
const makeRetriesDue = `update outbox set next_attempt_at = now()
  where failed_at is null and next_attempt_at < now() + interval '60 seconds'`

/** This is more than the sender sends concurrently. */
const requestCount = 6

const silent: readonly BehaviourName[] = ['sends nothing', 'sends nothing after its greeting']
const refusing: readonly BehaviourName[] = [
  'is too busy',
  'refuses all clients',
  'refuses the sender',
  'has no room for the recipient',
  'has no room for the message',
  'disconnects in the middle of a message',
]

test('requests do not wait for a mail server, and no message is lost, when it', async (t) => {
  const mail = await openFaultyMailServer(t)
  const gateway = await openGatewayServer(t, { status: 200, body: {} })
  const server = await openFlowServer(t, {
    ...phoneEnvironment,
    AUTH_SMS_WEBHOOK_URL: gateway.url,
    AUTH_SMTP_PORT: `${mail.port}`,
    // With one connection, a sender that kept it during a delivery would block all requests.
    AUTH_DB_MAX_POOL_SIZE: '1',
  })
  if (!server) return
  const { post, query, url } = server
  const { email } = await server.newUser()
  const login = await post('/token?grant_type=password', { email, password })
  const token = login.body.access_token

  const isDelivered = (to: string) => mail.received.some((one) => one.to.includes(to))
  const requestMails = async () => {
    const people = Array.from({ length: requestCount }, newEmail)
    for (const one of people) {
      assert.equal((await post('/otp', { email: one })).status, 200)
    }
    assert.equal((await send(url, '/user', { token })).status, 200)
    assert.ok(!people.every(isDelivered))
    return people
  }
  const isNoConnectionBusy = async () => {
    const busy = await query(
      `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
         and application_name = 'portcullis-auth' and state <> 'idle'`,
    )
    return busy.length === 0
  }
  const untilDelivered = async (people: readonly string[]) => {
    // Each aborted attempt has been recorded.
    await until(async () => {
      const claimed = await query(
        "select from outbox where failed_at is null and next_attempt_at > now() + interval '60 seconds'",
      )
      return claimed.length === 0
    })
    await query(makeRetriesDue)
    // Another message wakes the sender.
    await post('/otp', { email: newEmail() })
    await until(() => people.every(isDelivered))
    for (const one of people) {
      assert.equal(mail.received.filter(({ to }) => to.includes(one)).length, 1)
    }
    await until(async () => (await query('select from outbox')).length === 0)
  }

  for (const behaviour of silent) {
    await t.test(behaviour, async () => {
      mail.behave(behaviour)
      const people = await requestMails()
      await until(() => mail.open > 0)
      await until(isNoConnectionBusy)
      assert.equal((await query('select from outbox')).length, requestCount)
      assert.deepEqual(people.filter(isDelivered), [])
      // Text messages are not delayed by email that cannot be sent.
      const phone = newPhone()
      assert.equal((await post('/otp', { phone })).status, 200)
      await until(() => gateway.calls.some(({ body }) => body.includes(phone)))
      assert.deepEqual(people.filter(isDelivered), [])
      mail.behave('works')
      await untilDelivered(people)
    })
  }

  for (const behaviour of refusing) {
    await t.test(behaviour, async () => {
      mail.behave(behaviour)
      const people = await requestMails()
      await until(async () => {
        const failed = await query('select from outbox where last_error is not null')
        return failed.length === requestCount
      })
      await until(isNoConnectionBusy)
      mail.behave('works')
      await untilDelivered(people)
    })
  }

  await t.test('is unreachable', async () => {
    await mail.stopListening()
    const people = await requestMails()
    await until(async () => {
      const failed = await query("select from outbox where last_error like '%ECONNREFUSED%'")
      return failed.length === requestCount
    })
    await mail.listen()
    await untilDelivered(people)
  })

  await t.test('sends one byte at a time', async () => {
    mail.behave('sends one byte at a time')
    const people = await requestMails()
    await until(() => mail.open > 0)
    await until(isNoConnectionBusy)
    assert.deepEqual(people.filter(isDelivered), [])
    mail.sendRest()
    await until(() => people.every(isDelivered))
  })

  await t.test('and the log contains no codes or addresses', async () => {
    const log = server.log.join('')
    const failures = server.log.filter((line) => line.includes('was not sent')).join('')
    assert.match(failures, /next attempt in 5 s: /)
    for (const { parts, to } of mail.received) {
      const [, code = ''] = /^\s*(\d{6})\s*$/m.exec(parts.get('text/plain') ?? '') ?? []
      assert.ok(code !== '' && !containsSecret(log, code))
      assert.ok(!to.some((one) => failures.includes(one)))
    }
  })
})
