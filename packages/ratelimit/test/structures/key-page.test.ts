import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KeyBytes } from '../../src/structures/key-bytes.ts'
import { Page } from '../../src/structures/key-page.ts'

const bytes = new KeyBytes()
const hash = 0x1234_5678

function insert(page: Page, text: string, window = 60): number {
  return page.insert(bytes.set(text), hash, window, 60)
}

function find(page: Page, text: string, window = 60): number {
  return page.find(bytes.set(text), hash, window)
}

test('keys with the same hash are distinguished by all their bytes', () => {
  const page = new Page({ records: 20, words: 1000 })
  const texts = ['', 'a', 'a\u0000', 'b', 'aaaa', 'aaab', 'baaa', 'aaaaa', 'aaaab', 'x'.repeat(99)]
  const places = texts.map((text) => insert(page, text))
  assert.equal(new Set(places).size, texts.length)
  assert.deepEqual(
    texts.map((text) => find(page, text)),
    places,
  )
  assert.equal(find(page, 'x'.repeat(98)), 0)
  assert.equal(find(page, 'a', 120), 0)
})

test('a full page accepts no more records and loses none', () => {
  for (const room of [
    { records: 1000, words: 300 },
    { records: 10, words: 3000 },
  ]) {
    const page = new Page(room)
    const places: number[] = []
    for (let at = insert(page, 'key 0'); at !== 0; at = insert(page, `key ${places.length}`)) {
      places.push(at)
    }
    assert.ok(places.length >= 10, `${places.length} records`)
    assert.deepEqual(
      places.map((_, i) => find(page, `key ${i}`)),
      places,
    )
    page.clear()
    assert.equal(find(page, 'key 0'), 0)
    assert.equal(insert(page, 'key 0'), places[0])
  }
})

test('a removed record is not found, but its place is reused for the same key', () => {
  const page = new Page({ records: 10, words: 300 })
  const at = insert(page, 'key')
  page.remove(at)
  assert.equal(find(page, 'key'), 0)
  assert.equal(page.findStale(bytes.set('key'), hash, Number.NEGATIVE_INFINITY), at)
  page.renew(at, 120, 60)
  assert.equal(find(page, 'key', 120), at)
  assert.equal(page.size, 1)
})
