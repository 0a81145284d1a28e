/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { provideProgram } from '@portcullis/test-servers'
import { openClient } from '../../src/db/connection/open-client.ts'
import { readObjects } from '../../src/db/schema/repair.ts'
import { runCommand } from '../support/auth-command.ts'
import { openAuthServer, testEnvironment } from '../support/auth-server.ts'
import { send } from '../support/http-client.ts'
import { toMailEnvironment } from '../support/mail-environment.ts'
import { openMailbox } from '../support/mailbox.ts'
import { mainFlowsEnvironment, runMainFlows } from '../support/main-flows.ts'
import { openOwnDatabase, runIn } from '../support/shared-postgres.ts'

const run = promisify(execFile)
const schema = 'auth'

/** The client programs of the PostgreSQL under test; some packages do not have them. */
async function findClients(t: TestContext) {
  const folder = dirname(await provideProgram('postgres'))
  const toRunner = (name: string) => (args: readonly string[]) => run(join(folder, name), [...args])
  const [dump, restore, psql] = ['pg_dump', 'pg_restore', 'psql'].map(toRunner)
  try {
    await Promise.all([dump, restore, psql].map((one) => one?.(['--version'])))
  } catch {
    t.skip('pg_dump, pg_restore and psql are not installed next to postgres')
    return undefined
  }
  return dump && restore && psql && { dump, restore, psql }
}

async function readShape(url: string) {
  const client = await openClient(url, 'test')
  try {
    return await readObjects(client, schema)
  } finally {
    await client.end()
  }
}

const countUsers = async ({ url, serviceToken }: { url: string; serviceToken: string }) =>
  (await send(url, '/admin/users', { token: serviceToken })).headers.get('x-total-count')

test('a schema-only dump can be restored, completed by migrate, and served', async (t) => {
  const [from, to, prepared] = [
    await openOwnDatabase(t),
    await openOwnDatabase(t),
    await openOwnDatabase(t),
  ]
  if (!from || !to || !prepared) return
  const clients = await findClients(t)
  if (!clients) return
  const mailbox = await openMailbox(t)
  const env = { ...mainFlowsEnvironment, ...toMailEnvironment(mailbox.port) }
  const openServer = async (url: string) => {
    const server = await openAuthServer(t, { database: { url, schema }, env })
    assert.ok(server)
    return server
  }
  const first = await openServer(from.url)
  await runMainFlows({ ...first, mailbox })
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-dump-'))
  t.after(() => rm(folder, { recursive: true }))
  const [plain, archive] = [join(folder, 'auth.sql'), join(folder, 'auth.dump')]
  await clients.dump(['-n', schema, '-f', plain, from.url])
  await clients.dump(['-n', schema, '-Fc', '-f', archive, from.url])
  const migrateAt = async (url: string) =>
    runCommand(['migrate'], { env: { ...testEnvironment, DATABASE_URL: url } })

  await t.test('an index that needs a missing extension is created by migrate', async () => {
    const { stderr } = await clients.psql(['-q', '-f', plain, to.url])
    assert.match(stderr, /gin_trgm_ops/)
    const { code, stdout } = await migrateAt(to.url)
    assert.deepEqual([code, stdout], [0, 'repaired index users.users_search\n'])
    assert.deepEqual(await readShape(to.url), await readShape(from.url))
    const second = await openServer(to.url)
    assert.equal(await countUsers(second), await countUsers(first))
    await runMainFlows({ ...second, mailbox })
  })

  await t.test('if the extension exists, nothing has to be repaired', async () => {
    await runIn(prepared.url, 'create extension pg_trgm')
    await clients.restore(['--exit-on-error', '--single-transaction', '-d', prepared.url, archive])
    const { code, stdout } = await migrateAt(prepared.url)
    assert.deepEqual([code, stdout], [0, 'The tables are up to date.\n'])
    assert.deepEqual(await readShape(prepared.url), await readShape(from.url))
    const second = await openServer(prepared.url)
    assert.equal(await countUsers(second), await countUsers(first))
  })
})
