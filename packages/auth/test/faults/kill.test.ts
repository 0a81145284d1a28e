/**
 * @legs safety, endurance
 * @servers postgres
 * @slow
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { enduranceOr } from '@portcullis/test-servers/endurance'
import { readPostmasterFile } from '../../src/db/embedded/occupant.ts'
import { runCrashRounds } from '../support/crash-driver.ts'
import { startCrashServer } from '../support/crash-server.ts'
import { descendantsOf, kill, makeFolder } from '../support/embedded-place.ts'
import { openSharedPostgres } from '../support/shared-postgres.ts'

/** Each kill starts a server and loads it. */
const kills = enduranceOr(200, 2)
/** An embedded database takes longer to start and to recover. */
const embeddedKills = enduranceOr(40, 1)

test('when the server is killed, no acknowledged write is lost and no token is half rotated', async (t) => {
  const postgres = await openSharedPostgres(t)
  if (!postgres) return
  const schema = `killed_${process.pid}`
  const { acknowledged, checks } = await runCrashRounds(t, {
    moments: kills,
    schema,
    start: (env) =>
      startCrashServer(t, { ...env, DATABASE_URL: postgres.url, AUTH_DB_NAMESPACE: schema }),
    kill: (server) => server.kill(),
    findDatabase: async () => postgres.url,
  })
  assert.ok(acknowledged >= kills && checks >= kills)
})

test('the same holds when its embedded PostgreSQL is killed with it', async (t) => {
  const folder = await makeFolder(t)
  const { acknowledged, checks } = await runCrashRounds(t, {
    moments: embeddedKills,
    schema: 'auth',
    start: (env) => startCrashServer(t, { ...env, DATABASE_URL: `embedded://${folder}` }),
    async kill(server) {
      kill(server.pid, ...descendantsOf(server.pid).map(({ pid }) => pid))
      await server.kill()
    },
    async findDatabase() {
      const { socketFolder = '' } = (await readPostmasterFile(join(folder, 'data'))) ?? {}
      return `postgres://postgres@localhost/postgres?host=${encodeURIComponent(socketFolder)}`
    },
  })
  assert.ok(acknowledged >= embeddedKills && checks >= embeddedKills)
})
