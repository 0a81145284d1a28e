/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { Client } from 'pg'
import { type Database, type DatabaseSettings, openDatabase } from '../../../src/db/database.ts'
import { rotateSession } from '../../../src/features/sessions/statements/rotation.ts'
import { until } from '../../support/outbox.ts'
import { createRandom } from '../../support/random.ts'
import { toRotationValues } from '../../support/rotation-values.ts'
import { openSharedPostgres } from '../../support/shared-postgres.ts'
import { openTestSchema } from '../../support/test-schema.ts'

interface Tables {
  readonly db: Database
  /** Another connection, with the schema as its search path. */
  readonly query: (sql: string, values?: readonly unknown[]) => Promise<readonly Row[]>
  /** Opens sessions of one user; `set` has other columns of user and session. */
  addUser(sessions: number, set?: Partial<Record<'user' | 'session', string>>): Promise<string[]>
}

// oxlint-disable-next-line typescript/no-explicit-any -- rows of many queries
type Row = any

async function openTables(
  t: TestContext,
  audit?: DatabaseSettings['audit'],
): Promise<Tables | undefined> {
  const postgres = await openSharedPostgres(t)
  if (!postgres) return undefined
  const { url } = postgres
  const { name: schema, release } = await openTestSchema(url)
  const log = { warning: () => {} }
  const db = openDatabase({
    url,
    schema,
    maxPoolSize: 12,
    idleTimeoutMs: 1_000,
    log,
    ...(audit && { audit }),
  })
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(`set search_path to "${schema}"`)
  t.after(async () => {
    await client.end()
    await db[Symbol.asyncDispose]()
    release()
  })
  const query: Tables['query'] = async (sql, values = []) => {
    const { rows } = await client.query(sql, [...values])
    return rows
  }
  return {
    db,
    query,
    async addUser(count, { user, session } = {}) {
      const userId = randomUUID()
      await query('insert into users (id, email) values ($1, $2)', [
        userId,
        `${userId}@example.com`,
      ])
      if (user !== undefined) await query(`update users set ${user} where id = $1`, [userId])
      const ids = Array.from({ length: count }, () => randomUUID())
      for (const id of ids) {
        await query('insert into sessions (id, user_id) values ($1, $2)', [id, userId])
        if (session !== undefined) await query(`update sessions set ${session} where id = $1`, [id])
      }
      return ids
    },
  }
}

/** Runs in the same turn of the event loop, so in one batch. */
function rotateAll(db: Database, sessionIds: readonly string[], counter = 0) {
  return sessionIds.map((id) => db.run(rotateSession, toRotationValues(id, counter)))
}

/** The sessions with what a refresh changes. */
const readSessions = `
  select s.id, s.refresh_token_counter as counter, s.user_agent as agent, s.xmin::text as transaction,
    (select count(*)::integer from audit_log_entries a
     where a.payload #>> '{traits,session_id}' = s.id::text
       and a.payload ->> 'actor_id' = s.user_id::text
       and a.payload ->> 'actor_username' = u.email
       and a.ip_address = s.ip and a.created_at = s.refreshed_at) as entries,
    u.last_sign_in_at >= s.refreshed_at as has_signed_in
  from sessions s join users u on u.id = s.user_id
  where s.id = any($1::uuid[])`

const refreshed = (id: string, counter = 1) => ({
  id,
  counter,
  agent: `agent of ${id}`,
  entries: counter,
  has_signed_in: true,
})

const unchanged = (id: string) => ({
  id,
  counter: 0,
  agent: null,
  entries: 0,
  has_signed_in: null,
})

test('refreshes that arrive together are one transaction, with the effects of each', async (t) => {
  const tables = await openTables(t)
  if (!tables) return
  const { db, query, addUser } = tables
  const ids = [...(await addUser(1)), ...(await addUser(2)), ...(await addUser(1))]
  const rows = await Promise.all(rotateAll(db, ids))
  assert.deepEqual(
    rows.map(([row]) => [row?.session_id, row?.refresh_token_counter, row?.identities.length]),
    ids.map((id) => [id, 1, 0]),
  )
  const sessions = await query(readSessions, [ids])
  assert.equal(new Set(sessions.map(({ transaction }) => transaction)).size, 1)
  const found = Object.fromEntries(
    sessions.map(({ transaction: _, ...session }) => [session.id, session]),
  )
  assert.deepEqual(found, Object.fromEntries(ids.map((id) => [id, refreshed(id)])))
})

test('the audit entry of each refresh is reported in the context of its request', async (t) => {
  const context = new AsyncLocalStorage<string>()
  const reported: string[][] = []
  const tables = await openTables(t, {
    isStored: true,
    onWritten: (entries) =>
      reported.push(
        entries.map(
          ({ payload }) => `${context.getStore()} ${Object(payload['traits']).session_id}`,
        ),
      ),
  })
  if (!tables) return
  const { db, addUser } = tables
  const ids = [...(await addUser(1)), ...(await addUser(2))]
  await Promise.all(
    ids.map((id) => context.run(id, () => db.run(rotateSession, toRotationValues(id, 0)))),
  )
  assert.deepEqual(
    reported,
    ids.map((id) => [`${id} ${id}`]),
  )
})

test('a locked session delays only its own refresh', async (t) => {
  for (const table of ['sessions', 'users']) {
    const tables = await openTables(t)
    if (!tables) return
    const { db, query, addUser } = tables
    const [locked = ''] = await addUser(1)
    const [other = ''] = await addUser(1)
    const key = table === 'users' ? '(select user_id from sessions where id = $1)' : '$1'
    await query('begin')
    await query(`select from ${table} where id = ${key} for update`, [locked])
    const [waiting, free] = rotateAll(db, [locked, other])
    assert.equal((await free)?.[0]?.session_id, other)
    // The statement for one waits for the lock.
    await until(async () => {
      const sql = "select from pg_stat_activity where wait_event_type = 'Lock'"
      return (await query(sql)).length > 0
    })
    await query('commit')
    assert.equal((await waiting)?.[0]?.session_id, locked)
  }
})

test('of several refreshes with one token exactly one rotates it, also while the session is locked', async (t) => {
  const tables = await openTables(t)
  if (!tables) return
  const { db, query, addUser } = tables
  for (const isLocked of [false, true]) {
    const [one = ''] = await addUser(1)
    const [other = ''] = await addUser(1)
    if (isLocked) {
      await query('begin')
      await query('select from sessions where id = $1 for update', [one])
    }
    const all = rotateAll(db, [one, other, one, one])
    await all[1]
    if (isLocked) await query('commit')
    const rows = await Promise.all(all)
    const rotated = rows.filter(([row]) => row?.session_id === one)
    assert.deepEqual(
      rotated.map(([row]) => row?.refresh_token_counter),
      [1],
    )
    const [session] = await query(readSessions, [[one]])
    assert.deepEqual({ ...session, transaction: 0 }, { ...refreshed(one), transaction: 0 })
  }
})

test('a refresh that PostgreSQL refuses fails alone', async (t) => {
  const tables = await openTables(t)
  if (!tables) return
  const { db, query, addUser } = tables
  const [refused = ''] = await addUser(1, { user: "role = 'refused'" })
  const [other = ''] = await addUser(1)
  await query(`create function refuse() returns trigger language plpgsql as
    $$ begin raise exception 'refused'; end $$`)
  await query(`create trigger refuse before update on users for each row
    when (old.role = 'refused') execute function refuse()`)
  const [first, second] = await Promise.allSettled(rotateAll(db, [refused, other]))
  assert.equal(first?.status === 'rejected' && first.reason.message, 'refused')
  assert.equal(second?.status, 'fulfilled')
  const sessions = await query(`${readSessions} order by counter`, [[refused, other]])
  assert.deepEqual(
    sessions.map(({ transaction: _, ...session }) => session),
    [unchanged(refused), refreshed(other)],
  )
})

/** Sessions of every kind; the clock of the limits is that of PostgreSQL. */
const kinds: readonly Partial<Record<'user' | 'session', string>>[] = [
  {},
  { session: 'refresh_token_counter = 3' },
  { session: 'revoked_at = now()' },
  { session: "not_after = now() - interval '1 minute'" },
  { session: "created_at = now() - interval '3 hours', refreshed_at = now()" },
  { session: "refreshed_at = now() - interval '2 hours'" },
  { session: "aal = 'aal2', tag = 'web'" },
  { session: "tag = 'mobile'" },
  { user: "banned_until = now() + interval '1 hour'" },
  { user: "banned_until = now() - interval '1 hour'" },
  { user: 'deleted_at = now()' },
]

const addFactors = `
  insert into mfa_factors (id, user_id, factor_type, friendly_name, status)
  select gen_random_uuid(), user_id, 'totp', id::text, 'verified' from sessions
  where id = any($1::uuid[])`

test('together, refreshes have the same results as one after another', async (t) => {
  const tables = await openTables(t)
  if (!tables) return
  const { db, query, addUser } = tables
  const random = createRandom(21)
  const below = (limit: number) => Math.floor(random() * limit)
  const pick = <Item>(items: readonly Item[]): Item =>
    items[below(items.length)] ?? assert.fail('nothing to choose from')
  const hour = 3_600_000
  for (let round = 0; round < 12; round++) {
    const sessions: string[] = []
    for (let n = 0; n < 8; n++) sessions.push(...(await addUser(1 + below(2), pick(kinds))))
    await query(addFactors, [sessions.filter(() => below(3) === 0)])
    const nowMs = Date.now()
    const wanted = Array.from({ length: 14 }, () => {
      const limits = {
        now: new Date(nowMs),
        earliestCreation: new Date(below(2) === 0 ? 0 : nowMs - 2 * hour),
        earliestRefresh: new Date(below(2) === 0 ? 0 : nowMs - hour),
        earliestLowAalCreation: new Date(below(2) === 0 ? 0 : nowMs - hour),
        isSinglePerUser: below(3) === 0,
        tags: pick(['', 'web', 'web,mobile']),
      }
      return { ...toRotationValues(pick(sessions), pick([0, 0, 0, 3, 1])), ...limits }
    })
    // A session occurs once: two refreshes of one session depend on their order.
    const values = [...new Map(wanted.map((one) => [one.sessionId, one])).values()]
    const expected: (readonly unknown[])[] = []
    for (const one of values) {
      // Undone, so that each refresh finds the state that the batch finds.
      await db
        .transaction(async (queries) => {
          const rows = await queries.run(rotateSession, one)
          expected.push(rows.map(toResult))
          throw new Error('undo')
        })
        .catch((error: Error) => assert.equal(error.message, 'undo'))
    }
    const found = await Promise.all(values.map((one) => db.run(rotateSession, one)))
    assert.deepEqual(
      found.map((rows) => rows.map(toResult)),
      expected,
    )
    const logged = await query(
      `select payload #>> '{traits,session_id}' as id from audit_log_entries
       where id = any($1::uuid[])`,
      [values.map(({ auditId }) => auditId)],
    )
    assert.deepEqual(
      new Set(logged.map(({ id }) => id)),
      new Set(found.flatMap(([row]) => row?.session_id ?? [])),
    )
  }
})

function toResult({ position: _, is_busy: __, ...row }: Row) {
  return row
}
