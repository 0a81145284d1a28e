/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from 'pg'
import { migrate } from '../../../src/db/migrate/migrate.ts'
import { withSchema } from '../../../src/db/statement.ts'
import { listUsers } from '../../../src/features/admin/statements/list-users.ts'
import { openSharedPostgres } from '../../support/shared-postgres.ts'

const schema = `auth_plan_${process.pid}`

test('listing users uses a generic plan for every page number', async (t) => {
  const postgres = await openSharedPostgres(t)
  if (!postgres) return
  await migrate({ url: postgres.url, schema })
  const client = new Client({ connectionString: postgres.url })
  await client.connect()
  t.after(() => client.end())
  await client.query(`insert into ${schema}.users (id, aud, created_at)
    select gen_random_uuid(), 'a', now() + n * interval '1 second' from generate_series(1, 20000) n`)
  await client.query(`analyze ${schema}.users`)

  for (const [direction, statement] of Object.entries(listUsers)) {
    const { name } = statement
    const text = withSchema(statement.text, schema)
    // PostgreSQL makes five custom plans before it considers a generic one.
    for (let page = 0; page < 7; page++) {
      const { rows } = await client.query({ name, text, values: ['a', page * 50, 50] })
      assert.equal(rows.length, 50)
    }
    const plans = await client.query(
      'select generic_plans::int, custom_plans::int from pg_prepared_statements where name = $1',
      [name],
    )
    assert.deepEqual(plans.rows, [{ generic_plans: 2, custom_plans: 5 }], direction)
  }
})
