/**
 * @legs safety
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refresh } from '../support/crash-people.ts'
import { startCrashServer } from '../support/crash-server.ts'
import { openFlowServer } from '../support/flow-server.ts'
import { newEmail, password, send } from '../support/http-client.ts'

const storms: Readonly<Record<string, number>> = { 'one server': 1, 'two server processes': 2 }

/** The clock of the server in this process stands still, and fifty requests may take long. */
const patient = { AUTH_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL: '3600s' }

test('fifty concurrent refreshes of one token create one new token in one rotation', async (t) => {
  const flow = await openFlowServer(t, patient)
  if (!flow) return
  const other = await startCrashServer(t, {
    ...patient,
    DATABASE_URL: flow.databaseUrl,
    AUTH_DB_NAMESPACE: flow.schema,
  })
  const urls = [flow.url, other.url]
  const readSession = async (userId: string) => {
    const [row] = await flow.query(
      `select refresh_token_counter as counter, revoked_at,
         (select count(*)::integer from audit_log_entries
          where payload ->> 'actor_id' = $1 and payload ->> 'action' = 'token_refreshed') as logged
       from sessions where user_id = $1::uuid`,
      [userId],
    )
    return row
  }

  for (const [where, servers] of Object.entries(storms)) {
    await t.test(`at ${where}`, async () => {
      const body = { email: newEmail(), password }
      const signup = await send(other.url, '/signup', { body })
      const userId = signup.body.user.id
      let token = signup.body.refresh_token
      const before = await readSession(userId)
      for (let round = 1; round <= 2; round++) {
        const answers = await Promise.all(
          Array.from({ length: 50 }, (_, at) => refresh(urls[at % servers] ?? '', token)),
        )
        assert.deepEqual(
          answers.map(({ status }) => status),
          answers.map(() => 200),
        )
        const children = new Set(answers.map(({ body }) => body.refresh_token))
        assert.equal(children.size, 1)
        const after = await readSession(userId)
        assert.equal(after.counter, before.counter + round)
        assert.equal(after.logged, round)
        assert.equal(after.revoked_at, null)
        token = [...children][0]
      }
    })
  }
})
