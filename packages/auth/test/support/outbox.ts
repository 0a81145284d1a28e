import type { TestContext } from 'node:test'
import { Client } from 'pg'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { statement } from '../../src/db/statement.ts'
import { insertMessage } from '../../src/messages/statements/outbox.ts'
import { openSharedPostgres } from './shared-postgres.ts'
import { openTestSchema } from './test-schema.ts'

export interface OutboxDatabase {
  readonly url: string
  readonly schema: string
  readonly db: Database
  /** Opens a second pool, like another process. */
  openAnother(): Database
}

const silent = { warning: () => undefined }

/** Opens a new schema with our tables. */
export async function openOutboxDatabase(t: TestContext): Promise<OutboxDatabase | undefined> {
  const postgres = await openSharedPostgres(t)
  if (!postgres) return undefined
  const { url } = postgres
  const { name: schema, release } = await openTestSchema(url)
  t.after(release)
  const openAnother = () => {
    const db = openDatabase({ url, schema, maxPoolSize: 10, idleTimeoutMs: 10_000, log: silent })
    t.after(() => db[Symbol.asyncDispose]())
    return db
  }
  return { url, schema, db: openAnother(), openAnother }
}

const addOne = statement(
  'test_add_message',
  ['kind', 'recipient', 'payload', 'expiresInSeconds'],
  `with message as (${insertMessage('email', {
    kind: '$1',
    recipient: '$2',
    payload: '$3',
    expiresInSeconds: '$4',
    from: '(select) one',
  })} returning id) select id from message`,
).returning<{ readonly id: number }>()

export interface TestMessage {
  readonly kind?: string
  readonly recipient?: string
  readonly payload?: Readonly<Record<string, unknown>>
  readonly expiresInSeconds?: number
}

export const testPayload = {
  SiteURL: 'https://site.example',
  Email: 'ada@example.com',
  Token: '246810',
  TokenHash: 'feedbeef',
  ConfirmationURL: 'https://auth.example/verify?token=feedbeef&type=signup',
  Data: {},
}

/** Returns the id of the message. */
export async function addMessage(db: Database, message: TestMessage = {}): Promise<number> {
  const [row] = await db.run(addOne, {
    kind: 'confirmation',
    recipient: 'ada@example.com',
    payload: testPayload,
    expiresInSeconds: 3_600,
    ...message,
  })
  if (row === undefined) throw new Error('No row was inserted')
  return row.id
}

export interface StoredMessage extends Readonly<Record<string, unknown>> {
  readonly id: number
  readonly recipient: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly attempts: number
  readonly failed_at: string | null
  readonly last_error: string | null
  readonly wait_ms: number
}

const readAll = statement(
  'test_read_outbox',
  `select *, extract(epoch from next_attempt_at - now())::double precision * 1000 as wait_ms
   from {ns}.outbox order by id`,
).returning<StoredMessage>()

export async function readOutbox(db: Database): Promise<readonly StoredMessage[]> {
  return await db.run(readAll)
}

/** Makes all pending messages due. */
export const makeDue = statement(
  'test_make_due',
  'update {ns}.outbox set next_attempt_at = now() where failed_at is null',
)

/**
 * Waits until all requested messages have been sent; several are sent concurrently, in any order.
 */
export async function untilAllSent(server: {
  readonly databaseUrl: string
  readonly schema: string
}): Promise<void> {
  const client = new Client({ connectionString: server.databaseUrl })
  await client.connect()
  try {
    await until(async () => {
      const { rows } = await client.query(`select from ${server.schema}.outbox limit 1`)
      return rows.length === 0
    })
  } finally {
    await client.end()
  }
}

/** The limit detects hangs only; even a busy machine is faster. */
const hangMs = 120_000

/** Polls until the condition holds. */
export async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  const endsAt = performance.now() + hangMs
  while (!(await isSo())) {
    if (performance.now() > endsAt)
      throw new Error(`The condition did not hold within ${hangMs / 1_000} s`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
