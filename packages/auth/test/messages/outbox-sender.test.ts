/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseConfig } from '../../src/config/config.ts'
import type { Database, Queries } from '../../src/db/database.ts'
import { type Statement, statement } from '../../src/db/statement.ts'
import { openMessages } from '../../src/messages/sending/open-messages.ts'
import type { OutboxSenderSettings } from '../../src/messages/sending/outbox-sender.ts'
import { toMailEnvironment } from '../support/mail-environment.ts'
import { openMailServer } from '../support/mail-server.ts'
import {
  addMessage,
  type OutboxDatabase,
  openOutboxDatabase,
  readOutbox,
  testPayload,
  until,
} from '../support/outbox.ts'

const clear = statement('test_clear_outbox', 'truncate {ns}.outbox')

/** The interval is so long that within a test only `notify` can trigger a poll. */
const noPoll = { pollMs: 3_600_000 }
/** The interval is short enough to wait for in a test. */
const quick = { pollMs: 20, backoffMs: [30] }

interface SenderOptions extends Partial<OutboxSenderSettings> {
  readonly env?: Readonly<Record<string, string>>
  readonly queries?: Queries
}

function openSender(
  t: TestContext,
  db: Database,
  port: number | undefined,
  { env = {}, queries = db, ...sending }: SenderOptions = {},
) {
  const log: string[] = []
  const add = (text: unknown) => void log.push(String(text))
  const mail = port === undefined ? { AUTH_MAILER_AUTOCONFIRM: 'true' } : toMailEnvironment(port)
  const { config } = parseConfig({ ...mail, ...env })
  const sender = openMessages({
    ...{ config, db: queries, sending },
    log: { error: add, warning: add, info: add },
  })
  t.after(() => sender[Symbol.asyncDispose]())
  return { sender, log }
}

/** A database wrapper that observes or intercepts the statements. */
function wrapQueries(
  db: Database,
  around: <Result>(name: string, run: () => Promise<Result>) => Promise<Result>,
): Queries {
  return {
    run: (wanted: Statement, values?: object) =>
      around(wanted.name, () => db.run(wanted as Statement<object, never>, values ?? {})),
  }
}

const refusal = (responseCode: number, text: string) =>
  Object.assign(new Error(text), { responseCode })

const isEmpty = (db: Database) => async () => (await readOutbox(db)).length === 0

test('the outbox sender', async (t) => {
  const database = await openOutboxDatabase(t)
  if (!database) return
  const { db } = database
  t.beforeEach(async () => void (await db.run(clear)))

  await t.test('sends a message as soon as it is notified', async (t) => {
    const server = await openMailServer(t)
    const { sender, log } = openSender(t, db, server.port, noPoll)
    await addMessage(db, { recipient: 'grace@example.com' })
    sender.notify()
    const [mail] = await server.waitFor(1)
    assert.deepEqual(mail?.to, ['grace@example.com'])
    assert.equal(mail?.headers.get('subject'), 'Confirm Your Signup')
    assert.equal(mail?.headers.get('from'), 'Site <noreply@auth.example>')
    assert.match(mail?.headers.get('message-id') ?? '', /^<[0-9a-f]{32}@auth\.example>$/)
    assert.ok(mail?.parts.get('text/plain')?.includes(testPayload.ConfirmationURL))
    assert.ok(mail?.parts.get('text/html')?.includes('246810'))
    await until(isEmpty(db))
    assert.deepEqual(log, [])
  })

  await t.test(
    'sends the messages that were queued before it started, in several batches',
    async (t) => {
      const server = await openMailServer(t)
      for (let count = 0; count < 12; count++) await addMessage(db)
      openSender(t, db, server.port, { ...noPoll, concurrency: 3 })
      await server.waitFor(12)
      await until(isEmpty(db))
      assert.ok(server.connections <= 3)
    },
  )

  await t.test('sends at most AUTH_MESSAGES_CONCURRENCY messages at a time', async (t) => {
    let underWay = 0
    let most = 0
    const first = Promise.withResolvers<void>()
    const deliver = async () => {
      underWay += 1
      most = Math.max(most, underWay)
      if (most === 2) first.resolve()
      await first.promise
      underWay -= 1
    }
    for (let count = 0; count < 6; count++) await addMessage(db)
    openSender(t, db, undefined, {
      ...noPoll,
      env: { AUTH_MESSAGES_CONCURRENCY: '2' },
      channels: { email: deliver },
    })
    await until(isEmpty(db))
    assert.equal(most, 2)
  })

  await t.test('finds messages by polling, without a notification', async (t) => {
    const server = await openMailServer(t)
    openSender(t, db, server.port, quick)
    await addMessage(db)
    await server.waitFor(1)
    await until(isEmpty(db))
  })

  await t.test('retries a failed message with the same message id', async (t) => {
    let refusals = 0
    const ids = new Set<string>()
    const server = await openMailServer(t, {
      onData(stream, _, callback) {
        let text = ''
        stream.on('data', (chunk: Buffer) => {
          text += chunk
        })
        stream.on('end', () => {
          ids.add(/^Message-ID: (.*)\r$/im.exec(text)?.[1] ?? '')
          callback(++refusals <= 2 ? refusal(451, 'Later') : null)
        })
      },
    })
    const { log } = openSender(t, db, server.port, quick)
    await addMessage(db)
    await until(isEmpty(db))
    assert.equal(refusals, 3)
    assert.equal(ids.size, 1)
    assert.equal(log.length, 2)
    assert.match(log[0] ?? '', /\(confirmation\) was not sent, next attempt in 0 s: .*451 Later/)
  })

  await t.test('waits longer after each failure', async (t) => {
    const server = await openMailServer(t, {
      onRcptTo: (_, __, callback) => callback(refusal(451, 'Later')),
    })
    // The second wait is longer than the lease of a running attempt and ends before the code
    // expires.
    const backoffMs = [0, 1_200_000, 2_400_000]
    openSender(t, db, server.port, { pollMs: 20, backoffMs })
    await addMessage(db)
    await until(async () => ((await readOutbox(db))[0]?.wait_ms ?? 0) > 600_000)
    const [row] = await readOutbox(db)
    assert.equal(row?.attempts, 2)
    assert.ok(row.wait_ms <= 1_200_000, `${row.wait_ms}`)
  })

  await t.test('keeps working while the mail server is down', async (t) => {
    const first = await openMailServer(t)
    const { port } = first
    await first.close()
    const { log } = openSender(t, db, port, quick)
    await addMessage(db)
    await until(() => log.length >= 2)
    assert.match(log[0] ?? '', /ECONNREFUSED/)
    const server = await openMailServer(t, { port })
    await server.waitFor(1)
    await until(isEmpty(db))
  })

  await t.test('gives up a permanently refused message and does not log the code', async (t) => {
    const server = await openMailServer(t, {
      onData(stream, _, callback) {
        stream.resume()
        const reply = `Spam for ada@example.com: ${testPayload.ConfirmationURL} 246810 feedbeef`
        stream.on('end', () => callback(refusal(550, reply)))
      },
    })
    const { log } = openSender(t, db, server.port, quick)
    await addMessage(db)
    await until(async () => (await readOutbox(db))[0]?.failed_at !== null)
    const [row] = await readOutbox(db)
    assert.deepEqual(row?.payload, {})
    assert.equal(row?.recipient, '')
    assert.equal(log.length, 1)
    for (const text of [log[0] ?? '', row?.last_error ?? '']) {
      assert.match(text, /Spam for …@example\.com/)
      assert.doesNotMatch(text, /246810|feedbeef|ada@/)
    }
  })

  await t.test('does not send a code that has expired', async (t) => {
    const server = await openMailServer(t)
    const { log } = openSender(t, db, server.port, quick)
    await addMessage(db, { expiresInSeconds: -1 })
    await until(async () => (await readOutbox(db))[0]?.failed_at !== null)
    assert.match(log[0] ?? '', /failed permanently after 1 attempt: the code is no longer valid/)
    assert.equal(server.received.length, 0)
  })

  await t.test('gives up if the code would expire before the next attempt', async (t) => {
    const server = await openMailServer(t, {
      onRcptTo: (_, __, callback) => callback(refusal(451, 'Later')),
    })
    const { log } = openSender(t, db, server.port, { ...quick, backoffMs: [120_000] })
    await addMessage(db, { expiresInSeconds: 60 })
    await until(async () => (await readOutbox(db))[0]?.failed_at !== null)
    assert.match(log[0] ?? '', /failed permanently after 1 attempt/)
  })

  await t.test('holds no database connection while a mail server is slow', async (t) => {
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
    const { promise: free, resolve: release } = Promise.withResolvers<void>()
    const server = await openMailServer(t, {
      onRcptTo: (_, __, callback) => {
        reach()
        void free.then(() => callback())
      },
    })
    const used = new Set<string>()
    let open = 0
    const queries = wrapQueries(db, async (name, run) => {
      open++
      used.add(name)
      return await run().finally(() => open--)
    })
    openSender(t, db, server.port, { ...noPoll, queries })
    await addMessage(db)
    const second = openSender(t, db, server.port, { ...noPoll, queries })
    second.sender.notify()
    await reached
    assert.equal(open, 0)
    release()
    await server.waitFor(1)
    await until(isEmpty(db))
    assert.deepEqual([...used], ['claim_messages', 'delete_message'])
  })

  await t.test('aborts an attempt that takes too long', async (t) => {
    let attempts = 0
    const server = await openMailServer(t, {
      onRcptTo: (_, __, callback) => {
        if (++attempts > 1) callback()
      },
    })
    const { log } = openSender(t, db, server.port, { ...quick, sendTimeoutMs: 400 })
    await addMessage(db)
    await server.waitFor(1)
    assert.match(log[0] ?? '', /sending took longer than 400 ms/)
  })

  await t.test('retries until it has recorded that a message was sent', async (t) => {
    const server = await openMailServer(t)
    let failures = 0
    const queries = wrapQueries(db, async (name, run) => {
      if (name === 'delete_message' && ++failures <= 2) throw new Error('Connection lost')
      return await run()
    })
    openSender(t, db, server.port, { ...quick, queries })
    await addMessage(db)
    await until(isEmpty(db))
    assert.equal(failures, 3)
    assert.equal(server.received.length, 1)
  })

  await t.test('continues after a database outage and logs it once', async (t) => {
    const server = await openMailServer(t)
    let isAway = true
    let statements = 0
    const queries = wrapQueries(db, async (_, run) => {
      statements++
      if (isAway) throw new Error('Connection refused')
      return await run()
    })
    const { log } = openSender(t, db, server.port, { ...quick, queries })
    await addMessage(db)
    await until(() => statements >= 3)
    isAway = false
    await server.waitFor(1)
    assert.deepEqual(log, ['Cannot read the outbox: Connection refused'])
  })

  await t.test('drops messages and logs it if no mail server is configured', async (t) => {
    const { log } = openSender(t, db, undefined, quick)
    const id = await addMessage(db)
    await until(isEmpty(db))
    assert.deepEqual(log, [
      `The message ${id} (confirmation) is dropped: no mail server is configured`,
    ])
  })

  await t.test('waits for running deliveries when it stops', async (t) => {
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
    const { promise: free, resolve: release } = Promise.withResolvers<void>()
    const server = await openMailServer(t, {
      onRcptTo: (_, __, callback) => {
        reach()
        void free.then(() => callback())
      },
    })
    const { sender } = openSender(t, db, server.port, noPoll)
    await addMessage(db)
    sender.notify()
    await reached
    const drained = sender.drain(new AbortController().signal)
    await addMessage(db)
    sender.notify()
    release()
    await drained
    assert.equal(server.received.length, 1)
    assert.equal(
      (await readOutbox(db))[0]?.attempts,
      0,
      'the later message is left to other senders',
    )
  })

  await t.test('releases a running delivery if it has no time to wait', async (t) => {
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
    const server = await openMailServer(t, { onRcptTo: () => reach() })
    const { sender } = openSender(t, db, server.port, noPoll)
    await addMessage(db)
    sender.notify()
    await reached
    const controller = new AbortController()
    const drained = sender.drain(controller.signal)
    controller.abort()
    await drained
    const [row] = await readOutbox(db)
    assert.equal(row?.attempts, 0)
    assert.ok(row && row.wait_ms <= 0, 'it is due at once')
  })

  await t.test('stops waiting for a mail server after the drain timeout', async (t) => {
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
    const server = await openMailServer(t, { onRcptTo: () => reach() })
    const { sender } = openSender(t, db, server.port, { ...noPoll, drainTimeoutMs: 50 })
    await addMessage(db)
    sender.notify()
    await reached
    await sender.drain(new AbortController().signal)
    assert.equal((await readOutbox(db))[0]?.attempts, 0)
  })

  await t.test('shares the work with other senders, and each message is sent once', async (t) => {
    const server = await openMailServer(t)
    const count = 80
    const wanted = Array.from({ length: count }, (_, index) => `user${index}@example.com`)
    await Promise.all(wanted.map((recipient) => addMessage(db, { recipient })))
    for (let senders = 0; senders < 3; senders++) {
      openSender(t, database.openAnother(), server.port, quick)
    }
    await server.waitFor(count)
    await until(isEmpty(db))
    assert.deepEqual(server.received.flatMap(({ to }) => to).toSorted(), wanted.toSorted())
  })

  await t.test('loses no message when it is killed', (t) => testKills(t, database))
})

async function testKills(t: TestContext, { db, url, schema }: OutboxDatabase): Promise<void> {
  const server = await openMailServer(t)
  const [kills, count] = [3, 72]
  const wanted = Array.from({ length: count }, (_, index) => `user${index}@example.com`)
  const children = new Set<ChildProcess>()
  t.after(() => {
    for (const child of children) child.kill('SIGKILL')
  })
  const file = join(import.meta.dirname, '../support/outbox-process.ts')
  const start = () => {
    const child = spawn(process.execPath, [file, url, schema, `${server.port}`], {
      stdio: 'ignore',
    })
    children.add(child)
    return child
  }
  let next = 0
  for (let killed = 0; killed < kills; killed++) {
    const child = start()
    const before = server.received.length
    // Messages arrive while the process works, and it is killed while sending them.
    for (const end = next + count / kills; next < end; next++) {
      await addMessage(db, { recipient: wanted[next] ?? '' })
    }
    await until(() => server.received.length > before)
    await sleep(Math.random() * 60)
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  start()
  await until(isEmpty(db))
  const recipients = new Set(server.received.flatMap(({ to }) => to))
  assert.deepEqual([...recipients].toSorted(), wanted.toSorted())
}
