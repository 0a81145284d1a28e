/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { errorOf, openFlowServer } from '../support/flow-server.ts'
import { password, send } from '../support/http-client.ts'

const another = 'another horse battery'

test('races between sign-ins and password changes', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const { url, query } = server
  const signIn = (email: string, secret = password) =>
    server.post('/token?grant_type=password', { email, password: secret })
  const put = (token: string, body: object) => send(url, '/user', { method: 'PUT', token, body })
  const openSessionsOf = (id: string) =>
    query('select id from sessions where user_id = $1 and revoked_at is null', [id])

  /** Runs an operation that has to wait for an uncommitted change. */
  const during = async <Result>(
    sql: string,
    values: readonly unknown[],
    use: () => Promise<Result>,
  ) => {
    await query('begin')
    await query(sql, values)
    const result = use()
    let isWaiting = false
    const isDone = result.then(
      () => true,
      () => true,
    )
    while (!isWaiting && !(await Promise.race([isDone, setTimeout(5, false)]))) {
      const rows = await query(
        'select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))',
      )
      isWaiting = rows.length > 0
    }
    await query('commit')
    assert.ok(isWaiting, `it did not wait: ${JSON.stringify(await result)}`)
    return result
  }
  const changeHash = `update users set encrypted_password =
    (select encrypted_password from users where id = $2) where id = $1`
  const otherUser = await server.newUser()
  const setAnother = await put((await signIn(otherUser.email)).body.access_token, {
    password: another,
  })
  assert.equal(setAnother.status, 200)

  await t.test('a sign-in that has checked the old password gets no session', async () => {
    const { id, email } = await server.newUser()
    const answer = await during(changeHash, [id, otherUser.id], () => signIn(email))
    assert.deepEqual(errorOf(answer), [400, 'invalid_credentials', 'Invalid login credentials'])
    assert.deepEqual(await openSessionsOf(id), [])
    assert.ok(!(await server.actionsOf(id)).includes('login'))
    assert.equal((await signIn(email, another)).status, 200)
  })

  await t.test('a sign-in succeeds if the same password was rehashed meanwhile', async () => {
    const { id, email } = await server.newUser()
    const other = await server.newUser()
    const answer = await during(changeHash, [id, other.id], () => signIn(email))
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    assert.equal((await openSessionsOf(id)).length, 1)
  })

  for (const who of ['the owner', 'an administrator']) {
    await t.test(`${who} changing the password ends a session that is being opened`, async () => {
      const { id, email } = await server.newUser()
      const { access_token: token } = (await signIn(email)).body
      const opened = randomUUID()
      const open = `with opened as (insert into sessions (id, user_id) values ($2, $1))
        update users set last_sign_in_at = now() where id = $1`
      const change = () =>
        who === 'the owner'
          ? put(token, { password: another })
          : send(url, `/admin/users/${id}`, {
              method: 'PUT',
              token: server.serviceToken,
              body: { password: another },
            })
      const { status } = await during(open, [id, opened], change)
      assert.equal(status, 200)
      const left = await openSessionsOf(id)
      assert.equal(left.length, who === 'the owner' ? 1 : 0)
      assert.notEqual(left[0]?.id, opened)
    })
  }

  await t.test('a concurrently changed password makes another change fail', async () => {
    const { id, email } = await server.newUser()
    const { access_token: token } = (await signIn(email)).body
    const answer = await during(changeHash, [id, otherUser.id], () =>
      put(token, { password: 'a third horse battery', current_password: password }),
    )
    assert.deepEqual(errorOf(answer), [
      409,
      'conflict',
      'The account is being changed, please try again',
    ])
    assert.equal((await signIn(email, another)).status, 200)
  })
})
