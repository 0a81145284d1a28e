import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { LargeMap } from '../../src/structures/large-map.ts'

test('a large map has the same content and order as a map', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string(), { maxLength: 100 }), fc.string(), (keys, other) => {
      const map = new Map(keys.map((key, index) => [key, { index }]))
      const large = new LargeMap<{ index: number }>()
      for (const [key, value] of map) large.add(key, value)
      assert.equal(large.size, map.size)
      assert.deepEqual([...large.entries()], [...map])
      for (const key of [...keys, other]) assert.equal(large.get(key), map.get(key))
    }),
  )
})

test('entries that are added while others are listed are listed too', () => {
  const large = new LargeMap<number>()
  large.add('a', 1)
  const listed: string[] = []
  for (const [key] of large.entries()) {
    listed.push(key)
    if (large.size < 3) large.add(`${key}+`, 2)
  }
  assert.deepEqual(listed, ['a', 'a+', 'a++'])
})
