import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { readSources } from '../boundaries/read-sources.ts'

const root = dirname(dirname(import.meta.dirname))
const sources = [...readSources(root)].filter(([file]) => !file.includes('/generated/'))

test('no source file has more than 300 lines', () => {
  const long = sources
    .map(([file, text]) => ({ file, lines: text.split('\n').length - 1 }))
    .filter(({ lines }) => lines > 300)
  assert.deepEqual(long, [])
})

/** Folders with one file per entry of a long list, all of the same kind. */
const lists = ['packages/auth/src/db/migrations', 'packages/auth/src/plugins/providers']

test('no source folder has more than 20 files, except for two long lists', () => {
  const counts = new Map<string, number>()
  for (const file of globSync('packages/*/src/**/*.*', { cwd: root })) {
    counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1)
  }
  const large = [...counts].filter(([, count]) => count > 20).map(([folder]) => folder)
  assert.deepEqual(large.sort(), lists)
})

test('the HTTP server of auth fits on a screen', () => {
  const text = readFileSync(join(root, 'packages/auth/src/http/server.ts'), 'utf8')
  assert.ok(text.split('\n').length <= 80)
})

/** Only statements and the database layer contain SQL. */
const hasStatements = /\/src\/db\/|\/statements(?:\/|\.ts$)/

/** `export` and `import` have connections of their own to the databases of two servers. */
const hasConnections = /\/src\/(?:import|export)\//

/** A call with SQL as text, or a text that starts like a statement. */
const sql =
  /\.query(?:<[^()]*>)?\(\s*['"`]|['"`]\s*(?:select [^'"`]* from |insert into |update \S+ set |delete from |with \w+ as |copy \(|(?:create|alter|drop) (?:temp )?(?:table|index|policy|schema|role|function|trigger) |begin |truncate |set local )|\{ns\}\.\w/

const authSources = sources.filter(([file]) => file.startsWith('packages/auth/src/'))

test('only files of statements and the database layer of auth contain SQL', () => {
  const others = authSources.filter(([file]) => !hasStatements.test(file))
  assert.ok(others.length > 300)
  const files = others
    .filter(
      ([file, text]) =>
        sql.test(text) ||
        (!hasConnections.test(file) && /\b(?:statement|batch)\(|\.query\(|\bfrom 'pg'/.test(text)),
    )
    .map(([file]) => file)
  assert.deepEqual(files, [])
})

test('endpoints leave queries to the rules of their feature', () => {
  const endpoints = authSources.filter(([file]) => /\/features\/[\w-]+\/endpoints/.test(file))
  assert.ok(endpoints.length > 30, `${endpoints.length}`)
  const found = endpoints.filter(([, text]) => /\bdb\.run\(/.test(text)).map(([file]) => file)
  assert.deepEqual(found, [])
})

test('SQL is recognised in a call, in a text and in a template', () => {
  for (const text of [
    "client.query('commit')",
    'client.query<{ id: string }>(`select 1`)',
    "const text = 'select id from users'",
    '`alter table users disable trigger all`',
    '`\n  insert into {ns}.users values (1)`',
    '`copy (select 1) to stdout`',
    '`begin isolation level serializable`',
    '`logged as (insert into {ns}.audit_log_entries select 1)`',
  ]) {
    assert.match(text, sql)
  }
  const withStatements = authSources.filter(
    ([file, text]) => hasStatements.test(file) && sql.test(text),
  )
  assert.ok(withStatements.length > 50, `${withStatements.length}`)
})
