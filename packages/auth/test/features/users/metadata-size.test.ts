/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from 'pg'
import { countStoredBytes, type Json } from '../../../src/stored-json.ts'
import { openSharedPostgres } from '../../support/shared-postgres.ts'

test('computed sizes match the sizes in PostgreSQL', async (t) => {
  const postgres = await openSharedPostgres(t)
  if (!postgres) return
  const client = new Client({ connectionString: postgres.url })
  await client.connect()
  t.after(() => client.end())
  const numbers = [0, -1, 0.5, 1e20, 1e21, -1.25e22, 1.7976931348623157e308, 5e-324, -1.5e-10, 1e-7]
  const examples: readonly Json[] = [
    {},
    [],
    null,
    true,
    { a: {}, b: [], c: [1, 2, [3]], é: 'ü😀', d: { e: null, f: false } },
    'quotes " and \\ and \n\t\b\f\r\u0001\u007f\u2028/',
    ...numbers,
    numbers,
    Object.fromEntries(numbers.map((number, at) => [`key ${at}`, number])),
  ]
  for (const json of examples) {
    const text = JSON.stringify(json)
    const { rows } = await client.query('select octet_length(($1::jsonb)::text) as bytes', [text])
    assert.equal(countStoredBytes(json), rows[0].bytes, text)
  }
})
