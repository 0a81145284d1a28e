import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runAll } from '../../src/web/pages/users/bulk/run-all.ts'
import { toCsvCell, toCsvLine } from '../../src/web/pages/users/export/csv.ts'
import { formatSort, parseSort, toListQuery } from '../../src/web/pages/users/search.ts'

test('the sort order is read from the URL and written to it', () => {
  const newest = { column: 'created_at', direction: 'desc' } as const
  for (const [text, sort] of [
    ['', newest],
    ['email', { column: 'email', direction: 'asc' }],
    ['-last_sign_in_at', { column: 'last_sign_in_at', direction: 'desc' }],
    ['created_at', { column: 'created_at', direction: 'asc' }],
  ] as const) {
    assert.deepEqual(parseSort(text), sort)
    assert.equal(formatSort(sort), text)
  }
  for (const text of ['unknown', '-', '--email', '__proto__']) {
    assert.deepEqual(parseSort(text), newest, text)
  }
})

test('a search becomes the query parameters of the list', () => {
  const sort = parseSort()
  assert.deepEqual(toListQuery({ text: '', filters: {}, sort }), {})
  assert.deepEqual(toListQuery({ text: 'ada', filters: {}, sort: parseSort('created_at') }), {
    filter: 'ada',
    sort: 'created_at asc',
  })
  assert.deepEqual(
    toListQuery({ text: '', filters: { banned: 'true' }, sort: parseSort('-email') }),
    { banned: 'true', order_by: 'email desc' },
  )
  const filters = { created_from: '2026-03-04', created_to: '2026-03-04', seen_to: 'soon' }
  // A range includes its last day, in the time zone of the browser.
  assert.deepEqual(toListQuery({ text: '', filters, sort }), {
    created_after: new Date(2026, 2, 4).toISOString(),
    created_before: new Date(2026, 2, 5).toISOString(),
    last_sign_in_before: 'soon',
  })
})

test('CSV cells are quoted, and formulas become plain text', () => {
  for (const [text, cell] of [
    ['', ''],
    ['Ada', 'Ada'],
    ['Lovelace, Ada', '"Lovelace, Ada"'],
    ['the "first"', '"the ""first"""'],
    ['two\nlines', '"two\nlines"'],
    [' spaced ', '" spaced "'],
    ['=1+1', "'=1+1"],
    ['+49 151', "'+49 151"],
    ['-2', "'-2"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t=1"],
    ['\r=1', '"\'\r=1"'],
    ['=HYPERLINK("http://x","y")', '"\'=HYPERLINK(""http://x"",""y"")"'],
    ['a=1', 'a=1'],
  ] as const) {
    assert.equal(toCsvCell(text), cell)
  }
  assert.equal(toCsvLine(['a', 'b,c', '']), 'a,"b,c",\r\n')
})

test('an action runs for every item, and failures do not stop it', async () => {
  const items = Array.from({ length: 20 }, (_, index) => index)
  let running = 0
  let most = 0
  const progress: number[] = []
  const result = await runAll(
    items,
    async (item) => {
      running += 1
      most = Math.max(most, running)
      await new Promise(setImmediate)
      running -= 1
      if (item % 7 === 3) throw new Error(`no ${item}`)
    },
    new AbortController().signal,
    ({ done, failures }) => progress.push(done + failures.length),
  )
  assert.deepEqual([result.done, result.skipped, most], [17, [], 4])
  assert.deepEqual(result.failures, [
    { item: 3, message: 'no 3' },
    { item: 10, message: 'no 10' },
    { item: 17, message: 'no 17' },
  ])
  assert.deepEqual(
    progress,
    items.map((item) => item + 1),
  )
})

test('a stopped action reports what was not tried', async () => {
  const stop = new AbortController()
  const result = await runAll(
    [1, 2, 3, 4, 5, 6, 7, 8],
    async (item) => {
      if (item === 2) stop.abort()
    },
    stop.signal,
    () => {},
  )
  assert.equal(result.done + result.skipped.length, 8)
  assert.ok(result.skipped.length >= 4)
})
