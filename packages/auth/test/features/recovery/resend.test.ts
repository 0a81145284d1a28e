/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorOf, openFlowServer } from '../../support/flow-server.ts'
import { newEmail, password, sdk } from '../../support/http-client.ts'

test('POST /resend', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const { post, mailTo, mailsTo, query } = server

  await t.test('sends a confirmation again after the cooldown', async () => {
    const email = newEmail()
    await post('/signup', { email, password })
    const first = await mailTo(email)
    const early = await post('/resend', { type: 'signup', email })
    assert.deepEqual([early.status, early.body.error_code], [429, 'over_email_send_rate_limit'])
    assert.equal((await mailsTo(email)).length, 1)
    server.clock.aheadMs += 901_000
    const due = await post('/resend?redirect_to=https://site.example/x', { type: 'signup', email })
    assert.deepEqual([due.status, due.body], [200, {}])
    const second = await mailTo(email)
    assert.equal(second.kind, 'confirmation')
    assert.equal(second.url.searchParams.get('redirect_to'), 'https://site.example/x')
    assert.equal((await post('/verify', { type: 'signup', token: first.token })).status, 403)
    assert.equal((await post('/verify', { type: 'signup', token: second.token })).status, 200)
  })

  await t.test(
    'responds the same, with the same statements, if no message is pending',
    async () => {
      const waiting = newEmail()
      await post('/signup', { email: waiting, password })
      const { email: confirmed } = await server.newUser()
      server.clock.aheadMs += 901_000
      const unknown = newEmail()
      for (const type of ['signup', 'email_change']) {
        for (const email of [waiting, confirmed, unknown]) {
          await server.untilAnswered()
          server.takeStatements()
          const answer = await post('/resend', { type, email })
          assert.deepEqual([answer.status, answer.body], [200, {}])
          assert.equal(server.takeStatements()[0], 'defer_email')
        }
        const again = new Set<string>()
        for (const email of [waiting, confirmed, unknown]) {
          await server.untilAnswered()
          server.takeStatements()
          const { status, body, headers } = await post('/resend', { type, email })
          again.add(JSON.stringify([status, body.error_code, headers.has('retry-after')]))
          assert.deepEqual(server.takeStatements(), ['defer_email', 'find_message_wait'])
        }
        assert.deepEqual([...again], ['[429,"over_email_send_rate_limit",true]'])
      }
      assert.deepEqual(await mailsTo(confirmed), [])
      assert.equal((await mailsTo(waiting)).length, 2)
    },
  )

  await t.test('sends both messages of an email change again', async () => {
    const { id, email } = await server.newUser()
    const next = newEmail()
    await query(
      `update users set email_change = $2, email_change_confirm_status = 1,
         email_change_sent_at = to_timestamp($3::double precision / 1000) where id = $1`,
      [id, next, server.clock.now()],
    )
    const resend = () => post('/resend', { type: 'email_change', email })
    // The response reveals neither the pending change nor its cooldown.
    assert.deepEqual((await resend()).body, {})
    assert.deepEqual([await mailsTo(email), await mailsTo(next)], [[], []])
    server.clock.aheadMs += 901_000
    assert.deepEqual((await resend()).body, {})
    const [old, fresh] = [await mailTo(email), await mailTo(next)]
    assert.deepEqual([old.kind, fresh.kind], ['email_change', 'email_change'])
    assert.notEqual(old.token, fresh.token)
    assert.equal((await resend()).body.error_code, 'over_email_send_rate_limit')
    assert.equal((await mailsTo(next)).length, 1)
    const [user] = await query('select * from users where id = $1', [id])
    assert.equal(user.email_change_confirm_status, 0)
  })

  await t.test('hides the cooldown of a change from clients of Supabase Auth', async () => {
    const { id, email } = await server.newUser()
    const next = newEmail()
    await query('update users set email_change = $2 where id = $1', [id, next])
    const type = 'email_change'
    for (const address of [email, newEmail()]) {
      for (const _ of [1, 2]) {
        const answer = await post('/resend', { type, email: address }, sdk)
        assert.deepEqual([answer.status, answer.body], [200, {}])
      }
    }
    assert.equal((await mailsTo(next)).length, 1)
  })

  await t.test('reports invalid requests', async () => {
    const email = newEmail()
    const phone = '+491701234567'
    const types = 'Missing one of these types: signup, email_change, sms, phone_change'
    const cases: readonly (readonly [object, string])[] = [
      [{ email }, types],
      [{ type: 'recovery', email }, types],
      [{ type: 'signup' }, 'Type provided requires an email address'],
      [{ type: 'signup', phone }, 'Type provided requires an email address'],
      [{ type: 'sms' }, 'Type provided requires a phone number'],
      [{ type: 'sms', email }, 'Type provided requires a phone number'],
      [{ type: 'email_change' }, 'Missing email address or phone number'],
      [
        { type: 'signup', email, phone },
        'Only an email address or phone number should be provided.',
      ],
      [
        { type: 'signup', email: 'not-an-address' },
        'Unable to validate email address: invalid format',
      ],
      [
        { type: 'signup', email, code_challenge: 'c'.repeat(43) },
        'PKCE flow requires code_challenge_method and code_challenge',
      ],
    ]
    for (const [body, message] of cases) {
      const expected = [400, 'validation_failed', message]
      assert.deepEqual(errorOf(await post('/resend', body)), expected, JSON.stringify(body))
    }
    assert.deepEqual(errorOf(await post('/resend', { type: 'sms', phone })), [
      400,
      'phone_provider_disabled',
      'Phone logins are disabled',
    ])
  })
})
