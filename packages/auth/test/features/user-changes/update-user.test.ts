/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { type Database, openDatabase, type Row } from '../../../src/db/database.ts'
import { statement } from '../../../src/db/statement.ts'
import { deleteUser, softDeleteUser } from '../../../src/features/admin/statements/delete-user.ts'
import { rotateSession } from '../../../src/features/sessions/statements/rotation.ts'
import type { UserChange } from '../../../src/features/user-changes/statements/update-user.ts'
import {
  changeUserInTransaction,
  noChange,
} from '../../../src/features/user-changes/update-user.ts'
import { toRotationValues } from '../../support/rotation-values.ts'
import { openSharedPostgres, runIn } from '../../support/shared-postgres.ts'
import { openTestSchema } from '../../support/test-schema.ts'

const setDeadlockTimeout = `
  do $$ begin
    execute format('alter database %I set deadlock_timeout = ''10ms''', current_database());
  end $$`

/** Lowers deadlock_timeout, so that a deadlock is detected at once and not after a second. */
async function openTables(t: TestContext): Promise<Database | undefined> {
  const postgres = await openSharedPostgres(t)
  if (!postgres) return undefined
  const { url } = postgres
  const { name: schema, release } = await openTestSchema(url)
  await runIn(url, setDeadlockTimeout)
  const log = { warning: () => {} }
  const db = openDatabase({ url, schema, maxPoolSize: 12, idleTimeoutMs: 1_000, log })
  t.after(async () => {
    await db[Symbol.asyncDispose]()
    release()
  })
  return db
}

async function addUser(db: Database, sessionCount: number) {
  const id = randomUUID()
  await db.run(statement('add_user', ['id'], 'insert into {ns}.users (id) values ($1)'), { id })
  const sessions = Array.from({ length: sessionCount }, () => randomUUID())
  const add = statement(
    'add_session',
    ['sessionId', 'userId'],
    'insert into {ns}.sessions (id, user_id) values ($1, $2)',
  )
  for (const sessionId of sessions) await db.run(add, { sessionId, userId: id })
  return { id, sessions }
}

const rotate = (db: Database, session: string, counter: number): Promise<readonly Row[]> =>
  db.run(rotateSession, toRotationValues(session, counter))

test('refreshing sessions while they are ended causes no deadlock', async (t) => {
  const db = await openTables(t)
  if (!db) return
  const { id, sessions } = await addUser(db, 8)
  const revive = statement(
    'revive',
    `with mine as materialized (select id from {ns}.sessions order by id for update)
     update {ns}.sessions s set revoked_at = null from mine where s.id = mine.id`,
  )
  const end: UserChange = {
    ...noChange,
    user_id: id,
    ended_sessions: 'all',
    now: new Date(),
    ip: '',
    audit: [],
  }
  let ended = 0
  let isOver = false
  const refreshing = sessions.map(async (session) => {
    for (let counter = 0; !isOver; ) counter += (await rotate(db, session, counter)).length
  })
  const ending = async () => {
    for (let round = 0; round < 30; round += 1) {
      if ((await changeUserInTransaction(db, end, 'own')) !== undefined) ended += 1
      await db.run(revive)
    }
    isOver = true
  }
  await Promise.all([...refreshing, ending()])
  assert.equal(ended, 30)
})

for (const deletion of [deleteUser, softDeleteUser]) {
  test(`refreshing sessions while their user is deleted causes no deadlock (${deletion.name})`, async (t) => {
    const db = await openTables(t)
    if (!db) return
    for (let round = 0; round < 40; round += 1) {
      const { id, sessions } = await addUser(db, 4)
      const audit = { auditId: randomUUID(), auditPayload: {}, ip: '' }
      const deleting: Promise<readonly Row[]> = db.run(deletion, {
        userId: id,
        ...audit,
        now: new Date(),
      })
      await Promise.all([deleting, ...sessions.map((session) => rotate(db, session, 0))])
      assert.equal((await deleting).length, 1)
      const left = statement('left', ['userId'], 'select from {ns}.sessions where user_id = $1')
      assert.equal((await db.run(left, { userId: id })).length, 0)
    }
  })
}
