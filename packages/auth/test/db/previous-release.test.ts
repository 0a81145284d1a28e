/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { programEnvironment } from '@portcullis/test-servers'
import { Client } from 'pg'
import { createTokenSigner } from '../../src/core/json-web-token.ts'
import { createSigningKeys } from '../../src/core/signing-keys.ts'
import { readMigrations, toChecksum } from '../../src/db/migrate/files.ts'
import { migrate, oldestServer } from '../../src/db/migrate.ts'
import { withSchema } from '../../src/db/statement.ts'
import { jwtSecret, openAuthServer, testEnvironment } from '../support/auth-server.ts'
import { toMailEnvironment } from '../support/mail-environment.ts'
import { openMailbox } from '../support/mailbox.ts'
import { mainFlowsEnvironment, runMainFlows } from '../support/main-flows.ts'
import { packRelease, previousCommit } from '../support/previous-release/pack.ts'
import { openSharedPostgres } from '../support/shared-postgres.ts'

interface Recorded {
  /** Checksums by version. */
  readonly migrations: Readonly<Record<string, string>>
  readonly statements: readonly { readonly name: string; readonly text: string }[]
}

const recordFile = join(import.meta.dirname, '../support/previous-release/recorded.json')
const recorded: Recorded = JSON.parse(await readFile(recordFile, 'utf8'))

test('migrations that were released do not change', async () => {
  const now = Object.fromEntries(
    (await readMigrations()).map((one) => [one.version, toChecksum(one)]),
  )
  for (const [version, checksum] of Object.entries(recorded.migrations)) {
    assert.equal(now[version], checksum, `${version} was released: write a new migration instead`)
  }
  assert.equal(Object.keys(recorded.migrations).at(-1), oldestServer)
})

test('every statement of the previous release is understood by the tables of this one', async (t) => {
  const postgres = await openSharedPostgres(t)
  if (!postgres) return
  const { url } = postgres
  const schema = `understood_${process.pid}`
  await migrate({ url, schema })
  const client = new Client({ connectionString: url })
  await client.connect()
  t.after(() => client.end())
  assert.ok(recorded.statements.length > 90)
  for (const [at, { name, text }] of recorded.statements.entries()) {
    await client
      .query(`prepare s${at} as ${withSchema(text, schema)}`)
      .catch(({ message }: Error) => assert.fail(`${name}: ${message}`))
  }
})

test('a server of the previous release runs beside one of this release', async (t) => {
  await using release = await packRelease()
  if (release === undefined) {
    return t.skip(`the previous release (${previousCommit}) is not in the history of this checkout`)
  }
  const postgres = await openSharedPostgres(t)
  if (!postgres) return
  const database = { url: postgres.url, schema: `beside_${process.pid}` }
  const mailbox = await openMailbox(t)
  // Keys that are encrypted are none for the previous release.
  const plain = { AUTH_SECRETS_KEY: '' }
  const env = { ...mainFlowsEnvironment, ...toMailEnvironment(mailbox.port), ...plain }
  const present = await openAuthServer(t, { database, env })
  assert.ok(present)
  // "up", so that it also migrates: it finds nothing of its own to do.
  const previous = await startProgram(t, release.main, ['up'], {
    ...testEnvironment,
    ...env,
    DATABASE_URL: database.url,
    AUTH_DB_NAMESPACE: database.schema,
  })
  const keys = createSigningKeys({ secret: jwtSecret, keyId: undefined, keys: undefined })
  const serviceToken = createTokenSigner(keys).sign({ role: 'service_role' })
  for (const url of [previous, present.url, previous]) {
    await runMainFlows({ url, serviceToken, mailbox })
  }
})

/** Like `startAuth`, for the program of another checkout. */
async function startProgram(
  t: TestContext,
  main: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const child = spawn(process.execPath, [main, ...args], {
    cwd: '/',
    env: { ...programEnvironment, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const closed = once(child, 'close')
  t.after(async () => {
    child.kill('SIGTERM')
    await closed
  })
  let output = ''
  return await new Promise((done, fail) => {
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk
      const [, found] = /Listening on (http:[^\s,]+)/.exec(output) ?? []
      if (found !== undefined) done(found)
    })
    child.on('close', () => fail(new Error(`The server ended: ${output}`)))
  })
}
