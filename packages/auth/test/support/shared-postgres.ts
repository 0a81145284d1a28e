import { after, type TestContext } from 'node:test'
import { isDeclared, open, type PostgresServer } from '@portcullis/test-servers'
import { Client, type QueryResultRow } from 'pg'
import { shareServer } from './shared-server.ts'

/**
 * The PostgreSQL servers by the value of AUTH_TEST_POSTGRES: the one of the system and the embedded
 * one. Without the variable, the header of a test file decides: tests of endpoints and statements
 * declare the embedded one and all others that of the system, so that both versions run our
 * statements.
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
  throw new Error(`AUTH_TEST_POSTGRES must be ${Object.keys(kinds).join(' or ')}, not "${name}"`)
}

/** The part of a server that most tests need. */
export type SharedPostgres = Pick<PostgresServer, 'url'>

const openServer = shareServer(testPostgres)
let shared: ReturnType<typeof createDatabaseIn> | undefined
let databases = 0

after(async () => {
  await (await shared)?.drop()
})

/**
 * Opens one database for all tests in a file; they use separate schemas. Returns undefined and
 * skips the test if PostgreSQL is missing.
 */
export async function openSharedPostgres(
  t: Pick<TestContext, 'skip'>,
): Promise<SharedPostgres | undefined> {
  // Use the server of the whole test run if there is one, because starting one takes a second.
  const serverUrl = process.env[common]
  if (!serverUrl) return openServer(t)
  shared ??= createDatabaseIn(serverUrl, `test_${process.pid}`)
  return shared
}

/**
 * Opens a separate database for a test that changes the whole database. Returns undefined and skips
 * the test if PostgreSQL is missing.
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

/** Runs a statement on a separate connection. */
export async function runIn(url: string, statement: string): Promise<readonly QueryResultRow[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}
