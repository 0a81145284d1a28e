/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseMessageCap } from '../../src/config/limits/limits.ts'
import type { Database } from '../../src/db/database.ts'
import { statement } from '../../src/db/statement.ts'
import { findCapWait, spendCap } from '../../src/messages/statements/message-caps.ts'
import { insertMessage } from '../../src/messages/statements/outbox.ts'
import { openOutboxDatabase, readOutbox } from '../support/outbox.ts'

/** Like a sign-up, this inserts a user and a message and spends the cap in one statement. */
const signUp = statement(
  'test_sign_up',
  ['most', 'refillMs', 'count', 'now', 'email'],
  `with ${spendCap('email', { most: '$1', refillMs: '$2', count: '$3', now: '$4' })},
   created as (
     insert into {ns}.users (id, email) select gen_random_uuid(), $5 from cap returning email
   ), message as (
     ${insertMessage('email', {
       kind: `'confirmation'`,
       recipient: 'created.email',
       payload: `'{}'`,
       expiresInSeconds: '60',
       from: 'created cross join generate_series(1, $3::integer)',
     })}
   )
   select email from created`,
)
const countUsers = statement(
  'test_count_users',
  'select count(*) as users from {ns}.users',
).returning<{ readonly users: number }>()
const clear = statement('test_clear_caps', 'truncate {ns}.message_caps, {ns}.users cascade')
const clearOutbox = statement('test_clear_outbox', 'truncate {ns}.outbox')

let users = 0

const start = Date.parse('2030-01-01T10:20:00Z')

/** Returns whether the message was allowed. */
async function spend(db: Database, cap: string | undefined, afterMs = 0, count = 1) {
  const parsed = cap === undefined ? undefined : parseMessageCap(cap)
  const { most = null, refillMs = null } = parsed ?? {}
  const now = new Date(start + afterMs)
  const email = `user${++users}@example.com`
  const rows = await db.run(signUp, { most, refillMs, count, now, email })
  return rows.length === 1
}

async function findWait(db: Database, cap: string, afterMs: number) {
  const { most, refillMs = null } = parseMessageCap(cap) ?? {}
  const now = new Date(start + afterMs)
  const [row] = await db.run(findCapWait, { channel: 'email', most, refillMs, now })
  return row?.wait_seconds
}

const minute = 60_000

test('the cap on messages', async (t) => {
  const database = await openOutboxDatabase(t)
  if (!database) return
  const { db } = database
  t.beforeEach(async () => {
    await db.run(clear)
    await db.run(clearOutbox)
  })

  await t.test('of N allows N messages within an hour from the first one', async () => {
    for (const afterMs of [0, minute, 2 * minute]) assert.ok(await spend(db, '3', afterMs))
    assert.equal(await spend(db, '3', 3 * minute), false)
    assert.equal(await spend(db, '3', 60 * minute - 1), false)
    assert.equal(await findWait(db, '3', 59 * minute), 60)
    for (const afterMs of [60, 61, 62]) assert.ok(await spend(db, '3', afterMs * minute))
    assert.equal(await spend(db, '3', 63 * minute), false)
  })

  await t.test('of 0 allows no message', async () => {
    assert.equal(await spend(db, '0'), false)
    assert.equal(await spend(db, '0/1m', 60 * minute), false)
  })

  await t.test('that is not set allows every message', async () => {
    for (let count = 0; count < 5; count++) assert.ok(await spend(db, undefined))
  })

  await t.test('of N per duration is a token bucket', async () => {
    for (let count = 0; count < 3; count++) assert.ok(await spend(db, '3/10m'))
    assert.equal(await spend(db, '3/10m', 9 * minute), false)
    assert.equal(await findWait(db, '3/10m', 9 * minute), 60)
    assert.ok(await spend(db, '3/10m', 10 * minute))
    assert.equal(await spend(db, '3/10m', 11 * minute), false)
    assert.ok(await spend(db, '3/10m', 20 * minute))
    const later = 600 * minute
    for (let count = 0; count < 3; count++) assert.ok(await spend(db, '3/10m', later))
    assert.equal(await spend(db, '3/10m', later), false)
  })

  await t.test('is not reduced by refused messages', async () => {
    assert.ok(await spend(db, '1/10m'))
    for (let second = 1; second < 600; second += 60) {
      assert.equal(await spend(db, '1/10m', second * 1_000), false)
    }
    assert.ok(await spend(db, '1/10m', 10 * minute))
  })

  await t.test('accepts two messages together or neither', async () => {
    assert.ok(await spend(db, '3', 0, 2))
    assert.equal(await spend(db, '3', 0, 2), false)
    assert.ok(await spend(db, '3', 0, 1))
    assert.equal((await readOutbox(db)).length, 3)
  })

  await t.test('can be checked without being reduced', async () => {
    for (let count = 0; count < 5; count++) assert.ok(await spend(db, '1', 0, 0))
    assert.ok(await spend(db, '1', 0, 1))
    assert.equal(await spend(db, '1', 0, 0), false)
  })

  await t.test('takes effect at once when it is lowered', async () => {
    for (let count = 0; count < 5; count++) assert.ok(await spend(db, '10'))
    assert.equal(await spend(db, '5'), false)
    assert.ok(await spend(db, '6'))
  })

  await t.test('can change between a bucket and an hourly limit', async () => {
    for (let count = 0; count < 3; count++) assert.ok(await spend(db, '3'))
    assert.equal(await spend(db, '3'), false)
    assert.ok(await spend(db, '3/1m', 60 * minute))
    assert.ok(await spend(db, '3', 61 * minute))
  })

  await t.test('is not affected by a clock that is set back', async () => {
    assert.ok(await spend(db, '2/10m', 60 * minute))
    assert.ok(await spend(db, '2/10m', 0))
    assert.equal(await spend(db, '2/10m', 0), false)
  })

  await t.test('is exact across processes, and a refused message writes nothing', async () => {
    const pools = [db, database.openAnother(), database.openAnother()]
    for (const cap of ['17', '17/10h']) {
      await db.run(clear)
      await db.run(clearOutbox)
      const allowed = await Promise.all(
        Array.from({ length: 120 }, (_, index) => spend(pools[index % 3] ?? db, cap)),
      )
      assert.equal(allowed.filter(Boolean).length, 17)
      assert.equal((await readOutbox(db)).length, 17)
      const [row] = await db.run(countUsers)
      assert.equal(row?.users, 17)
    }
  })
})
