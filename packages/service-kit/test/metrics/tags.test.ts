import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mergeTags, parseTags, toNameSuffix, toTaggedName } from '../../src/metrics/tags.ts'

test('the tags in a name are parsed', () => {
  assert.deepEqual(parseTags('memcache.get'), { name: 'memcache.get', tags: [] })
  assert.deepEqual(parseTags('memcache.get.__code=hit.__zone=a=b'), {
    name: 'memcache.get',
    tags: [
      ['code', 'hit'],
      ['zone', 'a=b'],
    ],
  })
})

test('tags are merged and sorted by key, and the later one of two wins', () => {
  const merged = mergeTags(
    [['b', '1']],
    [
      ['a', '2'],
      ['b', '3'],
    ],
  )
  assert.deepEqual(merged, [
    ['a', '2'],
    ['b', '3'],
  ])
})

test('tags in a name contain no character that ends the tag, the name or the line', () => {
  assert.equal(toNameSuffix([['a.b', 'c:d|e\n']]), '.__a_b=c_d_e_')
  assert.equal(toTaggedName('get.__code=hit', [['zone', '1']]), 'get.__code=hit.__zone=1')
  assert.equal(toTaggedName('get.__code=hit', []), 'get.__code=hit')
})
