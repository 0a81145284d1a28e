import { after, type TestContext } from 'node:test'
import { isDeclared, open, type PostgresServer } from '@portcullis/test-servers'
import { Client } from 'pg'
import { shareServer } from './shared-server.ts'

/**
 * By the value of AUTH_TEST_POSTGRES: the system's PostgreSQL, and the one we bring along. Without the
 * variable, the header of a test file decides: tests of endpoints and statements declare the embedded
 * one and all others the system's, so that both versions run our statements.
 */
const kinds = {
  debian: { server: 'postgres', common: 'PORTCULLIS_TEST_POSTGRES_URL' },
  embedded: { server: 'postgres-embedded', common: 'PORTCULLIS_TEST_POSTGRES_EMBEDDED_URL' },
} as const

const isKind = (name: string): name is keyof typeof kinds => Object.hasOwn(kinds, name)

const { server: testServer, common } = kinds[chooseKind()]
export const testPostgres = testServer

function chooseKind() {
  const { AUTH_TEST_POSTGRES: name } = process.env
  if (!name) return isDeclared('postgres-embedded') ? 'embedded' : 'debian'
  if (isKind(name)) return name
  throw new Error(`AUTH_TEST_POSTGRES is ${Object.keys(kinds).join(' or ')}, not "${name}"`)
}

/** All that most tests need of a server. */
export type SharedPostgres = Pick<PostgresServer, 'url'>

const openServer = shareServer(testPostgres)
let shared: ReturnType<typeof createDatabaseIn> | undefined
let databases = 0

after(async () => {
  await (await shared)?.drop()
})

/**
 * One database for all tests of a file, which keep apart by their schemas. Undefined, and the test
 * skipped, where PostgreSQL is missing.
 */
export async function openSharedPostgres(
  t: Pick<TestContext, 'skip'>,
): Promise<SharedPostgres | undefined> {
  // In the server of the whole run, if there is one; to make one takes a second.
  const serverUrl = process.env[common]
  if (!serverUrl) return openServer(t)
  shared ??= createDatabaseIn(serverUrl, `test_${process.pid}`)
  return shared
}

/**
 * A database of its own, for a test that changes it as a whole. Undefined, and the test skipped, where
 * PostgreSQL is missing.
 */
export async function openOwnDatabase(t: TestContext): Promise<SharedPostgres | undefined> {
  const serverUrl = process.env[common]
  if (!serverUrl) return open(t, testPostgres)
  const { url, drop } = await createDatabaseIn(serverUrl, `test_${process.pid}_${++databases}`)
  t.after(drop)
  return { url }
}

async function createDatabaseIn(serverUrl: string, name: string) {
  await runIn(serverUrl, `create database ${name}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => runIn(serverUrl, `drop database ${name} with (force)`) }
}

/** Over a connection of its own. */
export async function runIn(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
