import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import {
  addToHistory,
  clearHistory,
  dropSecrets,
  type PastQuery,
  readHistory,
} from '../../src/web/pages/graphql/query/history.ts'
import { findOperations } from '../../src/web/pages/graphql/query/use-query.ts'

const stored = new Map<string, string>()
beforeEach(() => {
  stored.clear()
  // Node has no storage of a browser.
  Object.defineProperty(globalThis, 'localStorage', {
    configurable: true,
    value: {
      getItem: (name: string) => stored.get(name) ?? null,
      setItem: (name: string, value: string) => stored.set(name, value),
      removeItem: (name: string) => stored.delete(name),
    },
  })
})

function past(query: string, more: Partial<PastQuery> = {}): PastQuery {
  return { query, variables: '', headers: '', status: 200, at: 1, ...more }
}

test('the newest query is first, and a repeated one moves to the top', () => {
  let history = readHistory()
  for (const query of ['a', 'b', 'a']) history = addToHistory(history, past(query))
  assert.deepEqual(
    readHistory().map(({ query }) => query),
    ['a', 'b'],
  )
  assert.deepEqual(readHistory(), history)
  assert.deepEqual(clearHistory(), [])
  assert.deepEqual(readHistory(), [])
})

test('the number and the size of kept queries are bounded', () => {
  let history = readHistory()
  for (let index = 0; index < 60; index += 1) history = addToHistory(history, past(`${index}`))
  assert.equal(history.length, 50)
  history = addToHistory(history, past('x'.repeat(150_000)))
  history = addToHistory(history, past('y'.repeat(150_000)))
  assert.ok([...stored.values()].join('').length < 250_000)
})

test('headers that may contain secrets are not kept', () => {
  const headers = 'Authorization: Bearer abc\nX-Team: red\ncookie: a=b\nX-Api-Key: c'
  assert.equal(dropSecrets(headers), 'X-Team: red')
  addToHistory([], past('a', { headers }))
  assert.doesNotMatch([...stored.values()].join(''), /abc|a=b|Key/)
})

test('what another version has stored is ignored', () => {
  stored.set('portcullis-graphql-history', '[{"query":7},null,"x"]')
  assert.deepEqual(readHistory(), [])
  stored.set('portcullis-graphql-history', '{')
  assert.deepEqual(readHistory(), [])
})

test('the names of operations are found outside strings and comments', () => {
  assert.deepEqual(findOperations('{ a }'), [])
  assert.deepEqual(findOperations('query A { a } mutation B { b }'), ['A', 'B'])
  assert.deepEqual(
    findOperations('# query C { c }\nquery A($text: String = "} query D {") { a }'),
    ['A'],
  )
})
