/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { Client } from 'pg'
import { migrate } from '../../src/db/migrate/migrate.ts'
import { openSharedPostgres } from '../support/shared-postgres.ts'

test('row-level security policies can read the claims of the caller', async (t) => {
  const postgres = await openSharedPostgres(t)
  if (!postgres) return
  await migrate({ url: postgres.url, schema: 'claims_test' })
  const client = new Client({ connectionString: postgres.url })
  await client.connect()
  t.after(() => client.end())
  const readClaims = async (settings: Readonly<Record<string, string>>) => {
    await client.query('begin')
    for (const [name, value] of Object.entries(settings)) {
      await client.query('select set_config($1, $2, true)', [name, value])
    }
    const { rows } = await client.query(
      'select claims_test.uid(), claims_test.role(), claims_test.email(), claims_test.jwt()',
    )
    await client.query('commit')
    return rows[0]
  }
  const empty = { uid: null, role: null, email: null, jwt: null }
  assert.deepEqual(await readClaims({}), empty)

  const claims = { sub: randomUUID(), role: 'authenticated', email: 'a@example.com' }
  assert.deepEqual(await readClaims({ 'request.jwt.claims': JSON.stringify(claims) }), {
    uid: claims.sub,
    role: claims.role,
    email: claims.email,
    jwt: claims,
  })
  assert.deepEqual(
    await readClaims({ 'request.jwt.claim.sub': claims.sub, 'request.jwt.claim.role': 'anon' }),
    { uid: claims.sub, role: 'anon', email: null, jwt: null },
  )
  assert.deepEqual(await readClaims({}), empty, 'claims end with their transaction')
})
