/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from '../../src/db/database.ts'
import { statement } from '../../src/db/statement.ts'
import { purges } from '../../src/features/server/statements.ts'
import {
  claimMessages,
  deleteMessage,
  failMessage,
  type OutboxRow,
  releaseMessage,
  retryMessage,
} from '../../src/messages/statements/outbox.ts'
import {
  addMessage,
  makeDue,
  openOutboxDatabase,
  readOutbox,
  testPayload,
} from '../support/outbox.ts'

const claim = (db: Database, count = 10, leaseMs = 60_000) =>
  db.run(claimMessages, { channels: ['email'], rooms: [count], leaseMs })

const clear = statement('test_clear_outbox', 'truncate {ns}.outbox')

test('the outbox', async (t) => {
  const database = await openOutboxDatabase(t)
  if (!database) return
  const { db } = database
  t.beforeEach(async () => void (await db.run(clear)))

  await t.test('a claimed message has all the data that is needed to send it', async () => {
    const id = await addMessage(db, { kind: 'invite', expiresInSeconds: 100 })
    const [row, ...more] = await claim(db)
    assert.deepEqual(more, [])
    assert.ok(row)
    assert.equal(row.id, id)
    assert.equal(row.kind, 'invite')
    assert.equal(row.channel, 'email')
    assert.equal(row.recipient, 'ada@example.com')
    assert.deepEqual(row.payload, testPayload)
    assert.equal(row.attempts, 1)
    assert.ok(row.expires_in_ms > 50_000 && row.expires_in_ms <= 100_000)
  })

  await t.test('a claimed message cannot be claimed by others until its lease ends', async () => {
    await addMessage(db)
    assert.equal((await claim(db)).length, 1)
    assert.equal((await claim(db)).length, 0)
    await db.run(makeDue)
    const [again] = await claim(db)
    assert.equal(again?.attempts, 2)
  })

  await t.test('concurrent claims share the messages', async () => {
    const ids = await Promise.all(Array.from({ length: 60 }, () => addMessage(db)))
    const pools = [database.openAnother(), database.openAnother()]
    const claimed = await Promise.all(
      Array.from({ length: 20 }, (_, index) => claim(pools[index % 2] ?? db, 5)),
    )
    const left = await claim(db, 100)
    const found = [...claimed.flat(), ...left].map(({ id }) => id)
    assert.deepEqual(
      found.toSorted((a, b) => a - b),
      ids.toSorted((a, b) => a - b),
    )
  })

  await t.test('the oldest messages are claimed first, up to the limit', async () => {
    const ids = [await addMessage(db), await addMessage(db), await addMessage(db)]
    const found = (await claim(db, 2)).map(({ id }) => id)
    assert.deepEqual(found.toSorted(), ids.slice(0, 2))
  })

  await t.test(
    'new codes are claimed before all invitations, notifications and retries',
    async () => {
      const invitation = await addMessage(db, { kind: 'invite' })
      const notification = await addMessage(db, { kind: 'password_changed_notification' })
      const retried = await addMessage(db, { kind: 'recovery' })
      await db.run(claimMessages, { channels: ['email'], rooms: [10], leaseMs: 60_000 })
      await db.run(retryMessage, { id: retried, attempts: 1, waitMs: 0, error: 'no answer' })
      await db.run(releaseMessage, { id: invitation, attempts: 1 })
      await db.run(releaseMessage, { id: notification, attempts: 1 })
      const codes = [await addMessage(db), await addMessage(db, { kind: 'magic_link' })]
      const [first, second] = [await claim(db, 2), await claim(db, 10)]
      const idsOf = (rows: readonly OutboxRow[]) =>
        rows.map(({ id }) => id).toSorted((a, b) => a - b)
      assert.deepEqual(idsOf(first), codes)
      assert.deepEqual(idsOf(second), [invitation, notification, retried])
    },
  )

  await t.test('each channel is claimed up to its own limit', async () => {
    for (let count = 0; count < 3; count++) await addMessage(db)
    const rows = await db.run(claimMessages, {
      channels: ['sms', 'email'],
      rooms: [1, 2],
      leaseMs: 60_000,
    })
    assert.deepEqual(
      rows.map(({ channel }) => channel),
      ['email', 'email'],
    )
  })

  await t.test('messages of other channels are not claimed', async () => {
    await addMessage(db)
    assert.deepEqual(
      await db.run(claimMessages, { channels: ['sms'], rooms: [10], leaseMs: 1_000 }),
      [],
    )
  })

  await t.test('a sent message is deleted', async () => {
    const id = await addMessage(db)
    await claim(db)
    await db.run(deleteMessage, { id })
    assert.deepEqual(await readOutbox(db), [])
  })

  await t.test('a message that will be retried is not claimed before its time', async () => {
    const id = await addMessage(db)
    await claim(db)
    await db.run(retryMessage, { id, attempts: 1, waitMs: 30_000, error: 'no answer' })
    const [row] = await readOutbox(db)
    assert.equal(row?.last_error, 'no answer')
    assert.ok(row.wait_ms > 20_000 && row.wait_ms <= 30_000)
    assert.equal((await claim(db)).length, 0)
  })

  await t.test('a released message can be claimed again at once', async () => {
    const id = await addMessage(db)
    await claim(db)
    await db.run(releaseMessage, { id, attempts: 1 })
    const [row] = await claim(db)
    assert.equal(row?.attempts, 1)
  })

  await t.test('a message that is given up keeps neither its code nor its recipient', async () => {
    const id = await addMessage(db)
    await claim(db)
    await db.run(failMessage, { id, attempts: 1, error: 'refused' })
    const [row] = await readOutbox(db)
    assert.deepEqual(row?.payload, {})
    assert.equal(row?.recipient, '')
    assert.equal(row?.last_error, 'refused')
    assert.notEqual(row?.failed_at, null)
    assert.equal((await claim(db)).length, 0)
    const purge = (beforeMs: number) =>
      db.run(purges.failedMessages, { before: new Date(beforeMs) })
    await purge(Date.now() - 3_600_000)
    assert.equal((await readOutbox(db)).length, 1)
    await purge(Date.now() + 3_600_000)
    assert.equal((await readOutbox(db)).length, 0)
  })

  await t.test('a sender whose lease has ended cannot update the message', async () => {
    const id = await addMessage(db)
    await claim(db)
    await db.run(makeDue)
    await claim(db, 10, 60_000)
    await db.run(retryMessage, { id, attempts: 1, waitMs: 0, error: 'late' })
    await db.run(releaseMessage, { id, attempts: 1 })
    await db.run(failMessage, { id, attempts: 1, error: 'late' })
    const [row] = await readOutbox(db)
    assert.equal(row?.last_error, null)
    assert.equal(row?.failed_at, null)
    assert.equal(row?.attempts, 2)
    assert.ok(row.wait_ms > 30_000)
  })
})
