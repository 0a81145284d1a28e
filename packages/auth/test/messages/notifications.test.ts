/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Client } from 'pg'
import { notificationKinds } from '../../src/config/mail/messages.ts'
import { newAccount, openExternalServer } from '../support/external-server.ts'
import { createFactorCalls, factorEnvironment } from '../support/factors.ts'
import { openFlowServer } from '../support/flow-server.ts'
import { newEmail, send } from '../support/http-client.ts'
import { link } from '../support/linking.ts'
import { toMailEnvironment } from '../support/mail-environment.ts'
import { openMailServer } from '../support/mail-server.ts'
import { until } from '../support/outbox.ts'
import { newPhone, phoneEnvironment } from '../support/phone-server.ts'
import { openSharedPostgres } from '../support/shared-postgres.ts'

const allOn = Object.fromEntries(
  notificationKinds.map((kind) => [
    `AUTH_MAILER_NOTIFICATIONS_${kind.toUpperCase()}_ENABLED`,
    'true',
  ]),
)
const another = 'another horse battery'

/** The text of delivered messages to an address with a given subject. */
async function openInbox(t: TestContext) {
  const { port, received } = await openMailServer(t)
  const find = (email: string, subject: string) =>
    received
      .filter(({ to, headers }) => to.includes(email) && headers.get('subject') === subject)
      .map(({ parts }) => (parts.get('text/plain') ?? '').replaceAll(/\s+/g, ' '))
  return {
    port,
    find,
    async read(email: string, subject: string): Promise<string> {
      await until(() => find(email, subject).length > 0)
      return find(email, subject)[0] ?? ''
    },
  }
}

test('users are notified of changes to their account', async (t) => {
  const post = await openInbox(t)
  const server = await openExternalServer(t, ['keycloak'], {
    ...phoneEnvironment,
    ...factorEnvironment,
    ...toMailEnvironment(post.port),
    ...allOn,
    AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
    AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED: 'false',
    AUTH_MAILER_SUBJECTS_PASSWORD_CHANGED_NOTIFICATION: 'New password of {{ .Email }}',
  })
  if (!server) return
  const { url, query } = server
  const calls = createFactorCalls(server)
  const put = (token: string, body: object) => send(url, '/user', { method: 'PUT', token, body })

  await t.test('a changed password, with a configured subject', async () => {
    const { email, token } = await calls.newSignedInUser()
    assert.equal((await put(token, { password: another })).status, 200)
    const text = await post.read(email, `New password of ${email}`)
    assert.match(text, /has just been changed/)
    assert.ok(text.includes(email) && text.includes('https://site.example'))
  })

  await t.test('a changed email address, at the previous address', async () => {
    const { email, token } = await calls.newSignedInUser()
    const wanted = newEmail()
    assert.equal((await put(token, { email: wanted })).status, 200)
    const message = await post.read(wanted, 'Confirm Email Change')
    const [code = ''] = /\b\d{6}\b/.exec(message) ?? []
    const answer = await server.post('/verify', {
      type: 'email_change',
      email: wanted,
      token: code,
    })
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    const text = await post.read(email, 'Your email address has been changed')
    assert.ok(text.includes(`changed from ${email} to ${wanted}`), text)
    assert.deepEqual(post.find(wanted, 'Your email address has been changed'), [])
  })

  await t.test('a changed phone number, including the first one', async () => {
    const { email, token } = await calls.newSignedInUser()
    const change = async () => {
      const phone = newPhone()
      assert.equal((await put(token, { phone })).status, 200)
      const [row] = await query('select payload from outbox where recipient = $1', [phone])
      const body = { type: 'phone_change', phone, token: row.payload.Code }
      const answer = await server.post('/verify', body)
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      return phone
    }
    const subject = 'Your phone number has been changed'
    const first = await change()
    assert.match(await post.read(email, subject), new RegExp(`is now ${first}\\.`))
    const second = await change()
    await until(() => post.find(email, subject).length === 2)
    assert.ok(post.find(email, subject)[1]?.includes(`changed from ${first} to ${second}.`))
  })

  await t.test('an identity linked manually or by its address, and an unlinked one', async () => {
    const { id, email, token } = await calls.newSignedInUser()
    await link(server, token, newAccount())
    assert.match(await post.read(email, 'A new identity has been linked'), /with keycloak/)
    const [identity] = await query(
      "select id from identities where user_id = $1 and provider = 'keycloak'",
      [id],
    )
    const gone = await send(url, `/user/identities/${identity.id}`, { method: 'DELETE', token })
    assert.equal(gone.status, 200, JSON.stringify(gone.body))
    assert.match(await post.read(email, 'An identity has been unlinked'), /with keycloak/)

    const other = await calls.newSignedInUser()
    const account = newAccount({ email: other.email })
    await server.signInWith('keycloak', account)
    assert.match(await post.read(other.email, 'A new identity has been linked'), /with keycloak/)
    await server.signInWith('keycloak', account)
    assert.equal(post.find(other.email, 'A new identity has been linked').length, 1)
  })

  await t.test('a verified second factor, and recovery codes', async () => {
    const enrolled = 'A new MFA factor has been enrolled'
    const member = await calls.newMember()
    assert.match(await post.read(member.email, enrolled), /\(totp\)/)
    calls.take(member, await calls.answer(member, member.factorId, member.app.nextCode()))
    assert.equal((await calls.call(member, '/factors/recovery-codes')).status, 200)
    await until(() => post.find(member.email, enrolled).length === 2)
    assert.match(post.find(member.email, enrolled)[1] ?? '', /\(recovery_code\)/)
    const { body: unverified } = await calls.enroll(member)
    assert.equal((await calls.unenroll(member, unverified.id)).status, 200)
    assert.equal((await calls.unenroll(member, member.factorId)).status, 200)
    const unenrolled = 'An MFA factor has been unenrolled'
    assert.match(await post.read(member.email, unenrolled), /\(totp\)/)
    assert.equal(post.find(member.email, unenrolled).length, 1)
  })
})

test('neither the message limit nor the cooldown delays notifications', async (t) => {
  const server = await openFlowServer(t, {
    ...phoneEnvironment,
    ...allOn,
    AUTH_SMS_AUTOCONFIRM: 'true',
    AUTH_RATE_LIMIT_EMAIL_SENT: '0',
  })
  if (!server) return
  const { url, query } = server
  const { newSignedInUser } = createFactorCalls(server)
  const put = (token: string, body: object) => send(url, '/user', { method: 'PUT', token, body })
  const kindsTo = async (email: string) =>
    (await query('select kind, payload from outbox where recipient = $1 order by id', [email])).map(
      ({ kind, payload }) => [kind, payload.OldPhone, payload.Phone],
    )

  await t.test('one request can cause several notifications', async () => {
    const { email, token } = await newSignedInUser()
    const phone = newPhone()
    assert.equal((await put(token, { password: another, phone })).status, 200)
    assert.equal((await put(token, { password: `${another} 2` })).status, 200)
    assert.deepEqual(await kindsTo(email), [
      ['password_changed_notification', undefined, undefined],
      ['phone_changed_notification', '', phone],
      ['password_changed_notification', undefined, undefined],
    ])
  })

  await t.test('no notification is sent to an unconfirmed address', async () => {
    const { id, email, token } = await newSignedInUser()
    await query('update users set email_confirmed_at = null where id = $1', [id])
    assert.equal((await put(token, { password: another })).status, 200)
    assert.deepEqual(await kindsTo(email), [])
  })

  await t.test('changes by administrators cause no notification', async () => {
    const { id, email } = await newSignedInUser()
    const body = { password: another, phone: newPhone() }
    const options = { method: 'PUT', token: server.serviceToken, body }
    assert.equal((await send(url, `/admin/users/${id}`, options)).status, 200)
    assert.deepEqual(await kindsTo(email), [])
  })
})

test('the send_email hook receives notifications too', async (t) => {
  const postgres = await openSharedPostgres(t)
  if (!postgres) return
  const client = new Client({ connectionString: postgres.url })
  await client.connect()
  t.after(() => client.end())
  await client.query(`
    create table received_mail (data jsonb not null);
    create function tell(event jsonb) returns void language sql as
      $$ insert into received_mail select event -> 'email_data' $$`)
  const server = await openFlowServer(t, {
    ...factorEnvironment,
    ...allOn,
    AUTH_HOOK_SEND_EMAIL_ENABLED: 'true',
    AUTH_HOOK_SEND_EMAIL_URI: 'pg-functions://postgres/public/tell',
  })
  if (!server) return
  await createFactorCalls(server).newMember()
  const read = async () => (await client.query('select data from received_mail')).rows
  await until(async () => (await read()).length > 0)
  assert.deepEqual(
    (await read()).map(({ data }) => [data.email_action_type, data.factor_type, data.site_url]),
    [['mfa_factor_enrolled_notification', 'totp', 'https://auth.example']],
  )
})

test('notifications are disabled by default', async (t) => {
  await checkSilence(t, {})
})

test('no notification is sent to an address that is not authorized', async (t) => {
  await checkSilence(t, {
    ...allOn,
    AUTH_EXTERNAL_EMAIL_AUTHORIZED_ADDRESSES: 'only-this@example.com',
  })
})

async function checkSilence(t: TestContext, env: Readonly<Record<string, string>>) {
  const server = await openFlowServer(t, { ...factorEnvironment, ...env })
  if (!server) return
  const calls = createFactorCalls(server)
  const member = await calls.newMember()
  const { token } = member
  const body = { password: another }
  assert.equal((await send(server.url, '/user', { method: 'PUT', token, body })).status, 200)
  assert.equal((await calls.unenroll(member, member.factorId)).status, 200)
  const sql = "select kind from outbox where kind like '%notification'"
  assert.deepEqual(await server.query(sql), [])
}
