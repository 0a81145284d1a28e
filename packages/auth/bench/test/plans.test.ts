/**
 * @servers postgres
 * @isolated watches every connection of its process
 * @slow
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { purges as allPurges } from '../../src/features/server/statements.ts'
import { openOwnDatabase } from '../../test/support/shared-postgres.ts'
import { goals } from '../plans/judge.ts'
import { measurePlans } from '../plans/plans.bench.ts'
import { parsePlansSettings } from '../plans/settings.ts'
import { query } from '../servers/database-server.ts'

test('the plan report fills a database and captures the plan of every request', async (t) => {
  const postgres = await openOwnDatabase(t)
  if (!postgres) return
  const { url } = postgres
  const sizes = { users: 5_000, sessions: 15_000, audit: 30_000 }
  const { scores } = await measurePlans(url, { sizes, rounds: 3 })

  await t.test('the data set has the requested size', async () => {
    const [counts] = await query(
      url,
      `select (select count(*) from auth.users where created_at < now() - interval '1 day')::int as users,
         (select count(*) from auth.sessions where user_agent like 'Mozilla%')::int as sessions,
         (select count(*) from auth.audit_log_entries where ip_address like '192.0.2.%')::int as audit`,
    )
    assert.deepEqual(counts, sizes)
  })

  await t.test('statements of requests read few pages', () => {
    const requests = scores.filter(({ kind }) => kind === 'request')
    const names = requests.map(({ statement }) => statement)
    for (const name of ['find_caller', 'rotate_session', 'open_session', 'create_user']) {
      assert.ok(names.includes(name), `${name} of ${names}`)
    }
    for (const { statement, medianBuffers } of requests) {
      assert.ok(medianBuffers <= (goals.request.buffers ?? 0), `${statement}: ${medianBuffers}`)
    }
  })

  await t.test('cleanup with nothing to delete reads a few pages', () => {
    const purges = scores.filter(({ kind }) => kind === 'cleanup')
    assert.equal(purges.length, Object.keys(allPurges).length)
    for (const { statement, medianBuffers } of purges) {
      assert.ok(medianBuffers <= 30, `${statement}: ${medianBuffers}`)
    }
  })

  await t.test('every admin page and search is measured', () => {
    const titles = new Set(scores.flatMap(({ kind, title }) => (kind === 'admin' ? [title] : [])))
    assert.ok(titles.size > 20, [...titles].join())
  })
})

test('the sizes of the data set are options', () => {
  const settings = parsePlansSettings(['--users', '2000', '--quick'])
  assert.deepEqual(settings.sizes, { users: 2_000, sessions: 60_000, audit: 200_000 })
  assert.equal(settings.isComplete, false)
  assert.equal(parsePlansSettings([]).isComplete, true)
  assert.throws(() => parsePlansSettings(['--users', '10']), /at least 1000/)
})
