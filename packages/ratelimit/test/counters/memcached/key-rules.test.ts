/**
 * @servers memcached
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from '@portcullis/test-servers'
import { CounterKeyError } from '../../../src/counters/counter-store.ts'
import { toCounterName } from '../../../src/counters/memcached/counter-name.ts'
import { createMemcachedStatistics } from '../../../src/counters/memcached/statistics.ts'
import { storedCount } from './support/memcached-client.ts'
import { count, countAll, openReadyStore, read, toIncrement, window } from './support/store.ts'

/** The maximum length of the key without the window. */
const maxKeyBytes = 250 - `${window}`.length

const refused = {
  'a space': 'two words_',
  'a tab': 'a\tb_',
  'a line break': 'a\r\nflush_all\r\n_',
  'a zero byte': 'a\0b_',
  'a delete character': 'a\x7fb_',
  'one byte too many': `${'x'.repeat(maxKeyBytes)}_`,
  'too many bytes in few characters': `${'日'.repeat(82)}_`,
}

const allowed = {
  'the maximum number of bytes': `${'x'.repeat(maxKeyBytes - 1)}_`,
  'the maximum number of bytes in few characters': `${'日'.repeat(79)}_`,
  'other alphabets': 'über/日本語/🙂_',
  'a lone surrogate': '\ud83d_',
  'spaces beyond ASCII': 'a\u00a0b\u2028_',
  'words of the protocol': 'get_END_VALUE_',
}

test('a key that memcached does not allow fails the call and writes nothing', async (t) => {
  const memcached = await open(t, 'memcached')
  if (!memcached) return
  const statistics = createMemcachedStatistics()
  const store = await openReadyStore(t, {
    ports: [memcached.port],
    statistics,
    hashesLongNames: false,
  })
  for (const [what, key] of Object.entries(refused)) {
    await t.test(what, async () => {
      const isMalformed = (error: unknown) => {
        assert.ok(error instanceof CounterKeyError)
        assert.equal(error.message, 'malformed: key is too long or contains invalid characters')
        return true
      }
      await assert.rejects(count(store, key), isMalformed)
      await assert.rejects(read(store, key), isMalformed)
      await assert.rejects(countAll(store, [toIncrement('good_'), toIncrement(key)]), isMalformed)
    })
  }
  assert.equal(statistics.multiget.error.value, 3 * Object.keys(refused).length)
  assert.equal(statistics.keysRequested.value, 0)
  assert.equal(await count(store, 'good_'), 1)
})

test('every other key is counted', async (t) => {
  const memcached = await open(t, 'memcached')
  if (!memcached) return
  const store = await openReadyStore(t, { ports: [memcached.port] })
  for (const [what, key] of Object.entries(allowed)) {
    await t.test(what, async () => {
      assert.equal(await count(store, key), 1)
      assert.equal(await count(store, key), 2)
      assert.equal(await read(store, key), 2)
      assert.equal(await storedCount(memcached.port, key), 2)
    })
  }
})

test('a name that is too long is replaced by its beginning and a hash', async (t) => {
  const memcached = await open(t, 'memcached')
  if (!memcached) return
  const store = await openReadyStore(t, { ports: [memcached.port] })
  const long = 'x'.repeat(300)
  for (const tail of ['a_', 'b_', 'ü_']) {
    assert.equal(await count(store, `${long}${tail}`), 1)
    assert.equal(await count(store, `${long}${tail}`), 2)
  }
  const name = toCounterName(toIncrement(`${long}a_`), 1_200, true) ?? ''
  assert.match(name, /^x{180}~[\da-f]{64}$/)
  const wide = toCounterName(toIncrement(`${'日'.repeat(100)}_`), 1_200, true) ?? ''
  assert.ok(Buffer.byteLength(wide) <= 250)
})
