/**
 * @servers postgres
 * @slow
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { programEnvironment } from '@portcullis/test-servers'
import { Client } from 'pg'
import { readMigrations, toChecksum } from '../../src/db/migrate/files.ts'
import { migrate, oldestServer } from '../../src/db/migrate/migrate.ts'
import { withSchema } from '../../src/db/statement.ts'
import { createTokenSigner } from '../../src/tokens/json-web-token.ts'
import { createSigningKeys } from '../../src/tokens/signing-keys.ts'
import { runCommand } from '../support/auth-command.ts'
import { jwtSecret, openAuthServer, testEnvironment } from '../support/auth-server.ts'
import { send } from '../support/http-client.ts'
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

test('released migrations do not change', async () => {
  const now = Object.fromEntries(
    (await readMigrations()).map((one) => [one.version, toChecksum(one)]),
  )
  for (const [version, checksum] of Object.entries(recorded.migrations)) {
    assert.equal(now[version], checksum, `${version} was released: write a new migration instead`)
  }
  assert.equal(Object.keys(recorded.migrations).at(-1), oldestServer)
})

test('all statements of the previous release work with the current tables', async (t) => {
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

test('a release can be rolled out and rolled back while clients use the server', async (t) => {
  await using release = await packRelease()
  if (release === undefined) {
    return t.skip(`the previous release (${previousCommit}) is not in the history of this checkout`)
  }
  const { main } = release
  const postgres = await openSharedPostgres(t)
  if (!postgres) return
  const database = { url: postgres.url, schema: `rolled_${process.pid}` }
  const mailbox = await openMailbox(t)
  // The previous release cannot read encrypted keys.
  const plain = { AUTH_SECRETS_KEY: '' }
  const env = { ...mainFlowsEnvironment, ...toMailEnvironment(mailbox.port), ...plain }
  const variables = {
    ...testEnvironment,
    ...env,
    DATABASE_URL: database.url,
    AUTH_DB_NAMESPACE: database.schema,
  }
  const keys = createSigningKeys({ secret: jwtSecret, keyId: undefined, keys: undefined })
  const serviceToken = createTokenSigner(keys).sign({ role: 'service_role' })
  const use = (url: string) => runMainFlows({ url, serviceToken, mailbox })

  // An anonymous user stays signed in throughout, whichever server handles the request.
  const previous = await startProgram(t, main, ['up'], variables)
  await use(previous)
  const { body: guest } = await send(previous, '/signup', { body: {} })
  let token: string = guest.refresh_token
  const refresh = async (url: string) => {
    const { status, body } = await send(url, '/token?grant_type=refresh_token', {
      body: { refresh_token: token },
    })
    assert.equal(status, 200, JSON.stringify(body))
    token = body.refresh_token
  }

  // First migrate the tables while servers of the previous release are running.
  let isMigrated = false
  const migrating = runCommand(['migrate'], { env: variables }).finally(() => {
    isMigrated = true
  })
  while (!isMigrated) await refresh(previous)
  const { code, stderr } = await migrating
  assert.equal(code, 0, stderr)
  await use(previous)

  // Then start the new servers; a server of the previous release may still be started.
  const present = await openAuthServer(t, { database, env })
  assert.ok(present)
  const another = await startProgram(t, main, ['up'], variables)
  for (const url of [previous, present.url, another, present.url]) await refresh(url)
  await Promise.all([use(present.url), use(another)])

  // Roll back the servers; the tables stay as they are.
  const again = await startProgram(t, main, ['serve'], variables)
  await refresh(again)
  await use(again)
})

/** Like `startAuth`, for the program in another checkout. */
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
