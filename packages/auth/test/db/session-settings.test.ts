/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toUtcTime } from '../../src/db/connection/session-settings.ts'
import { openDatabase } from '../../src/db/database.ts'
import { statement } from '../../src/db/statement.ts'
import { openSharedPostgres } from '../support/shared-postgres.ts'

const readSettings = statement(
  'test_read_settings',
  `select current_setting('TimeZone') as zone, current_setting('DateStyle') as style,
     current_setting('statement_timeout') as timeout, current_setting('search_path') as path,
     current_setting('portcullis.audit', true) as audit,
     timestamptz '2024-05-01 10:00:00.5+00' as time`,
)

test('options in the URL are kept, but settings of the server take precedence', async (t) => {
  const postgres = await openSharedPostgres(t)
  if (!postgres) return
  const url = new URL(postgres.url)
  const options = '-c search_path=pg_temp -c TimeZone=Asia/Tokyo -c DateStyle=German'
  const db = openDatabase({
    url: `${url.href}?options=${encodeURIComponent(options)}`,
    schema: 'auth',
    maxPoolSize: 1,
    idleTimeoutMs: 10_000,
    statementTimeoutMs: 60_000,
    log: { warning: (message) => assert.fail(`${message}`) },
    audit: { isStored: true, onWritten() {} },
  })
  t.after(() => db[Symbol.asyncDispose]())
  assert.deepEqual(await db.run(readSettings), [
    {
      zone: 'UTC',
      style: 'ISO, MDY',
      timeout: '1min',
      path: 'pg_temp',
      audit: 'tell',
      time: '2024-05-01T10:00:00.5Z',
    },
  ])
})

test('times are returned in UTC regardless of their time zone', () => {
  const times = {
    '2024-05-01 10:00:00+00': '2024-05-01T10:00:00Z',
    '2024-05-01 10:00:00.123456+00': '2024-05-01T10:00:00.123456Z',
    '2024-05-01T10:00:00.123456+00:00': '2024-05-01T10:00:00.123456Z',
    '2024-05-01 12:00:00.123456+02': '2024-05-01T10:00:00.123456Z',
    '2024-05-01T15:30:00.1+05:30': '2024-05-01T10:00:00.1Z',
    '2023-12-31 20:30:01-03:30': '2024-01-01T00:00:01Z',
    // Amsterdam used this offset before 1940.
    '1900-01-01 00:19:32+00:19:32': '1900-01-01T00:00:00Z',
    infinity: '9999-12-31T23:59:59.999999Z',
  }
  for (const [text, time] of Object.entries(times)) assert.equal(toUtcTime(text), time)
})
