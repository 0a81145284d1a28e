import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import { Client } from 'pg'
import { testEnvironment } from '../auth-server.ts'
import { addSourcePeople } from './people.ts'
import { createSourceSchema, type SourceRelease } from './schema.ts'
import { createSourceWriter } from './source-writer.ts'

/** Creates a schema with the tables of Supabase Auth, which is dropped after the test. */
export async function openSource(t: TestContext, databaseUrl: string, release: SourceRelease) {
  const schema = `source_${process.pid}_${randomUUID().slice(0, 8)}`
  const client = new Client({ connectionString: databaseUrl })
  client.on('error', () => {})
  await client.connect()
  t.after(async () => {
    // The database may have been dropped already.
    await client.query(`drop schema ${schema} cascade`).catch(() => undefined)
    await client.end()
  })
  await createSourceSchema(client, schema, release)
  const writer = createSourceWriter(client, schema, release)
  return {
    schema,
    client,
    writer,
    url: toSourceUrl(databaseUrl, schema),
    addPeople: () => addSourcePeople(writer, release),
  }
}

export function toSourceUrl(databaseUrl: string, schema: string): string {
  return `${databaseUrl}${databaseUrl.includes('?') ? '&' : '?'}schema=${schema}`
}

/** The audience and role of the users in the source, and the sign-in with a phone number. */
export const sourceEnvironment = {
  AUTH_JWT_AUD: 'authenticated',
  AUTH_JWT_DEFAULT_GROUP_NAME: 'authenticated',
  AUTH_EXTERNAL_PHONE_ENABLED: 'true',
} as const

/** The environment of a command for the database of a server under test. */
export function toCommandEnvironment(server: {
  readonly databaseUrl: string
  readonly schema: string
}) {
  return {
    ...testEnvironment,
    ...sourceEnvironment,
    DATABASE_URL: server.databaseUrl,
    AUTH_DB_NAMESPACE: server.schema,
  }
}
