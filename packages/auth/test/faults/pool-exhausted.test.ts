/**
 * @legs safety
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from 'pg'
import { openAuthServer } from '../support/auth-server.ts'
import { openFlowServer } from '../support/flow-server.ts'
import { type HttpAnswer, password, send } from '../support/http-client.ts'
import { until } from '../support/outbox.ts'

const late = ['503 database_unavailable', '504 request_timeout']

const toOutcome = ({ status, body }: HttpAnswer) =>
  status === 200 ? '200' : `${status} ${body.error_code}`

test('a pool whose only connection is blocked', async (t) => {
  const flow = await openFlowServer(t)
  if (!flow) return
  const { databaseUrl: url, schema, query } = flow
  const server = await openAuthServer(t, {
    env: { AUTH_DB_MAX_POOL_SIZE: '1', AUTH_API_MAX_REQUEST_DURATION: '2s' },
    database: { url, schema },
    clock: flow.clock,
  })
  assert.ok(server)
  const { id, email } = await flow.newUser()
  const login = await flow.post('/token?grant_type=password', { email, password })
  const { access_token: token, refresh_token: refreshToken } = login.body
  const get = () => send(server.url, '/user', { token })
  const put = (data: object) => send(server.url, '/user', { method: 'PUT', token, body: { data } })
  const refresh = () =>
    send(server.url, '/token?grant_type=refresh_token', { body: { refresh_token: refreshToken } })
  // A transaction sees the same activity of others all the time, so a separate connection is used.
  const holder = new Client({ connectionString: url, options: `-c search_path=${schema}` })
  await holder.connect()
  t.after(() => holder.end())
  const isBlocked = async () => {
    const waiting = await query(
      `select from pg_stat_activity where wait_event_type = 'Lock'
         and datname = current_database()`,
    )
    return waiting.length > 0
  }

  await t.test('makes other requests wait, and all get a response in time', async () => {
    await holder.query('begin')
    await holder.query('select from users where id = $1 for update', [id])
    // Each request holds the connection until PostgreSQL cancels its statement, one after the
    // other.
    const blocked = Array.from({ length: 4 }, () => put({ blocked: true }))
    await until(isBlocked)
    const others = [...Array.from({ length: 20 }, get), refresh()]
    const outcomes = (await Promise.all([...blocked, ...others])).map(toOutcome)
    for (const outcome of outcomes.slice(0, blocked.length)) {
      assert.ok(late.includes(outcome), outcome)
    }
    for (const outcome of outcomes.slice(blocked.length)) {
      assert.ok(late.includes(outcome) || outcome === '200', outcome)
    }
    assert.ok(outcomes.slice(blocked.length).some((outcome) => outcome !== '200'))
  })

  await t.test('does not block the health check', async () => {
    const blocked = put({ blocked: true })
    await until(isBlocked)
    const { status } = await send(server.url, '/health')
    assert.ok([200, 503].includes(status), `${status}`)
    assert.ok(late.includes(toOutcome(await blocked)))
  })

  await t.test('works as before once it is free', async () => {
    await holder.query('commit')
    await until(async () => (await get()).status === 200)
    await until(async () => (await put({ name: 'Ada' })).status === 200)
    await until(async () => (await refresh()).status === 200)
    const [row] = await query('select raw_user_meta_data as data from users where id = $1', [id])
    assert.equal(row.data.name, 'Ada')
    assert.doesNotMatch(server.log.join(''), /unhandled|\n\s+at /i)
  })
})
