/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAuthServer } from '../support/auth-server.ts'
import { newEmail, password, sdk, send } from '../support/http-client.ts'
import { toMailEnvironment } from '../support/mail-environment.ts'
import { openMailbox } from '../support/mailbox.ts'
import { untilAllSent } from '../support/outbox.ts'
import { createUser, signIn } from './people.ts'

test('Events', async (t) => {
  const mailbox = await openMailbox(t)
  const server = await openAuthServer(t, {
    env: { ...toMailEnvironment(mailbox.port), AUTH_MAILER_AUTOCONFIRM: 'false' },
  })
  if (!server) return
  const { url, serviceToken } = server
  const post = (path: string, body: unknown) => send(url, path, { body })
  const sent: (readonly [string, string, string])[] = []
  const readNext = async (email: string) => {
    const { subject, link, code } = await mailbox.readNext(email)
    sent.push([subject, link, code])
    return { subject, type: link && new URL(link).searchParams.get('type') }
  }

  await t.test(
    'Events › signup confirmation email: POST /signup, `Confirm Your Signup`',
    async () => {
      const email = newEmail()
      await post('/signup', { email, password })
      const expected = { subject: 'Confirm Your Signup', type: 'signup' }
      assert.deepEqual(await readNext(email), expected)
    },
  )

  await t.test('Events › invite email: POST /invite, `You have been invited`', async () => {
    const email = newEmail()
    await send(url, '/invite', { token: serviceToken, body: { email } })
    const expected = { subject: 'You have been invited', type: 'invite' }
    assert.deepEqual(await readNext(email), expected)
  })

  await t.test(
    'Events › invite email: admin link type `invite`, `You have been invited`',
    async () => {
      const email = newEmail()
      const body = { type: 'invite', email }
      // The client library requests links to send them itself.
      await send(url, '/admin/generate_link', { token: serviceToken, body, headers: sdk })
      const made = await send(url, '/admin/generate_link', { token: serviceToken, body })
      const { subject, link } = await mailbox.readNext(email)
      assert.equal(subject, 'You have been invited')
      assert.equal(link, made.body.action_link)
      assert.equal((await send(url, link.slice('https://auth.example'.length))).status, 303)
      assert.equal(mailbox.countOf(email), 1)
    },
  )

  await t.test('Events › recovery email: POST /recover, `Reset Your Password`', async () => {
    const { email } = await createUser(server)
    await post('/recover', { email })
    const expected = { subject: 'Reset Your Password', type: 'recovery' }
    assert.deepEqual(await readNext(email), expected)
  })

  for (const [path, name] of [
    ['/magiclink', 'Events › magic link email: POST /magiclink, `Your Magic Link`'],
    ['/otp', 'Events › magic link email: POST /otp with email, `Your Magic Link`'],
  ] as const) {
    await t.test(name, async () => {
      const { email } = await createUser(server)
      await post(path, { email })
      const expected = { subject: 'Your Magic Link', type: 'magiclink' }
      assert.deepEqual(await readNext(email), expected)
    })
  }

  await t.test(
    'Events › email change confirmation: PUT /user with a new email, `Confirm Email Change`',
    async () => {
      const { token } = await signIn(server)
      const email = newEmail()
      await send(url, '/user', { method: 'PUT', token, body: { email } })
      const expected = { subject: 'Confirm Email Change', type: 'email_change' }
      assert.deepEqual(await readNext(email), expected)
    },
  )

  await t.test('Events › reauthentication nonce: GET /reauthenticate', async () => {
    const { token, email } = await signIn(server)
    await send(url, '/reauthenticate', { token })
    const { code } = await mailbox.readNext(email)
    assert.match(code, /^\d{6}$/)
  })

  await t.test('Events › each carries a link or code', () => {
    assert.equal(sent.length, 6)
    for (const [subject, link, code] of sent) {
      assert.match(link, /^https:\/\/auth\.example\/verify\?token=\w{32,}&type=/, subject)
      assert.match(code, /^\d{6}$/, subject)
    }
  })

  await t.test('Events › no other admin link type sends a message', async () => {
    const { email } = await createUser(server)
    const newcomer = newEmail()
    for (const body of [
      { type: 'signup', email: newcomer, password },
      { type: 'magiclink', email },
      { type: 'recovery', email },
    ]) {
      await send(url, '/admin/generate_link', { token: serviceToken, body })
    }
    await untilAllSent(server)
    assert.deepEqual([mailbox.countOf(email), mailbox.countOf(newcomer)], [0, 0])
  })
})
