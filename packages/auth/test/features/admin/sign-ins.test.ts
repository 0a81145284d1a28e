/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openFlowServer } from '../../support/flow-server.ts'
import { password, send } from '../../support/http-client.ts'

test('sign-ins are counted, and failed sign-ins are stored for administrators', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_JWT_AUD: 'authenticated',
    AUTH_MAILER_AUTOCONFIRM: 'false',
  })
  if (!server) return
  const asAdmin = { token: server.serviceToken }
  const signIn = (email: string, word = password) =>
    send(server.url, '/token?grant_type=password', { body: { email, password: word } })
  const create = async (email: string, more: object = {}) => {
    const body = { email, password, email_confirm: true, ...more }
    return (await send(server.url, '/admin/users', { ...asAdmin, body })).body.id as string
  }
  /** Waits for the failures, because they are written after the response is sent. */
  const readFailures = async (query: string, count: number) => {
    for (;;) {
      const { body } = await send(server.url, `/admin/sign-in-failures?${query}`, asAdmin)
      if (body.length >= count) return body as Record<string, unknown>[]
      await sleep(50)
    }
  }
  const ada = await create('ada@example.com')
  await create('ben@example.com', { email_confirm: false })
  await create('eve@example.com', { ban_duration: '1h' })

  await t.test('failures have their reason, whether or not the account exists', async () => {
    assert.equal((await signIn('ada@example.com')).status, 200)
    const wrong = await signIn('ada@example.com', 'not the right one')
    await signIn('ADA@example.com', 'nor is this one')
    const unknown = await signIn('unknown@example.com')
    assert.deepEqual([wrong.status, wrong.body], [unknown.status, unknown.body])
    await signIn('ben@example.com')
    await signIn('eve@example.com')
    // The user typed the password into the email field.
    await signIn('correct horse battery')

    const failures = await readFailures('', 5)
    const facts = failures.map(({ name, reason, count, user_id: id }) => [
      name,
      reason,
      count,
      id === null,
    ])
    assert.deepEqual(facts.sort(), [
      ['', 'wrong_password', 1, true],
      ['ada@example.com', 'wrong_password', 2, false],
      ['ben@example.com', 'unconfirmed', 1, false],
      ['eve@example.com', 'banned', 1, false],
      ['unknown@example.com', 'wrong_password', 1, true],
    ])
    const own = await readFailures(`user_id=${ada}`, 1)
    assert.deepEqual(
      own.map(({ user_id: id }) => id),
      [ada],
    )
  })

  await t.test('a failed second factor and a rate-limited sign-in are recorded', async () => {
    const { body: tokens } = await signIn('ada@example.com')
    const asAda = { token: tokens.access_token }
    const { body: factor } = await send(server.url, '/factors', {
      ...asAda,
      body: { factor_type: 'totp', friendly_name: 'app' },
    })
    const challenge = await send(server.url, `/factors/${factor.id}/challenge`, {
      ...asAda,
      method: 'POST',
    })
    const verified = await send(server.url, `/factors/${factor.id}/verify`, {
      ...asAda,
      body: { challenge_id: challenge.body.id, code: '000000' },
    })
    assert.equal(verified.status, 422)
    let status = 0
    while (status !== 429) status = (await signIn('guess@example.com', 'wrong again')).status
    for (;;) {
      const failures = await readFailures('', 7)
      const found = failures.map(({ name, reason }) => `${name} ${reason}`)
      const hasLimited = found.includes('guess@example.com limited')
      if (hasLimited && found.includes('ada@example.com second_factor')) break
      await sleep(50)
    }
  })

  await t.test(
    'the counts are those of this server, by time step, with its start time',
    async () => {
      const { body } = await send(server.url, '/admin/sign-ins', asAdmin)
      const sums: Record<string, number> = {}
      for (const { outcome, count } of body.counts) sums[outcome] = (sums[outcome] ?? 0) + count
      const { wrong_password: wrong = 0, limited = 0, ...others } = sums
      assert.deepEqual(others, { banned: 1, second_factor: 1, succeeded: 2, unconfirmed: 1 })
      assert.ok(wrong > 4 && limited >= 1)
      assert.ok(Date.parse(body.started_at) <= Date.now())
      assert.equal((await send(server.url, '/admin/sign-ins', {})).status, 401)
      assert.equal((await send(server.url, '/admin/sign-in-failures', {})).status, 401)
    },
  )

  await t.test('a flood of failures leaves a bounded number of rows', async () => {
    await server.query(
      `insert into sign_in_failures (id, period, aud, name, reason, ip_address, count, first_at, last_at)
       select gen_random_uuid(), now(), 'authenticated', n || '@flood.example', 'wrong_password', '', 1,
         now(), now() + interval '1 minute' from generate_series(1, 6000) n`,
    )
    const { trimSignIns } = await import('../../../src/features/audit/statements.ts')
    await server.query(trimSignIns.text.replaceAll('{ns}.', ''), [new Date(0), new Date(0)])
    const [rows] = await server.query(
      `select (count(*) filter (where user_id is null))::integer as none,
         (count(*) filter (where user_id is not null))::integer as some from sign_in_failures`,
    )
    assert.deepEqual(rows, { none: 5_000, some: 4 })
  })

  await t.test('deleting an account deletes its recorded failures', async () => {
    for (const isSoft of [true, false]) {
      const id = await create('gone@example.com')
      await signIn('gone@example.com', 'not the right one')
      await readFailures(`user_id=${id}`, 1)
      await send(server.url, `/admin/users/${id}`, {
        ...asAdmin,
        method: 'DELETE',
        body: { should_soft_delete: isSoft },
      })
      const { body } = await send(server.url, `/admin/sign-in-failures?user_id=${id}`, asAdmin)
      assert.deepEqual(body, [])
    }
  })
})
