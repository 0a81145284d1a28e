/**
 * @servers postgres, redis
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { limitPlaces, type OpenLimits } from '../support/limit-kinds.ts'

let keys = 0
const newKey = () => `2001:db8::${(++keys).toString(16)}`

async function takeAll(limits: OpenLimits, key: string, count: number) {
  const waits: (number | undefined)[] = []
  for (let taken = 0; taken < count; taken++) waits.push(await limits.take('verify', key))
  return waits
}

async function waitAfterAll(limits: OpenLimits, key: string): Promise<number> {
  const waits = await takeAll(limits, key, 4)
  assert.deepEqual(waits.slice(0, 3), [undefined, undefined, undefined])
  const last = waits[3]
  assert.ok(last !== undefined)
  return last
}

for (const [name, openPlace] of Object.entries(limitPlaces)) {
  test(`requests are counted ${name}`, async (t) => {
    const place = await openPlace(t)
    if (!place) return
    const limits = await place.openLimits()
    assert.deepEqual(limits.log, [])

    await t.test('a burst is allowed, and further requests are refused', async () => {
      const key = newKey()
      const wait = await waitAfterAll(limits, key)
      assert.ok(Number.isInteger(wait) && wait >= 1 && wait <= 300, `${wait}`)
      assert.ok((await limits.take('verify', key)) !== undefined)
    })

    await t.test('a request is allowed after the reported wait, and not much earlier', async () => {
      const key = newKey()
      const wait = await waitAfterAll(limits, key)
      await place.advance((wait * 1_000) / 2)
      const rest = await limits.take('verify', key)
      assert.ok(rest !== undefined && rest >= wait / 2 - 10 && rest <= wait / 2 + 1, `${rest}`)
      await place.advance(rest * 1_000)
      assert.equal(await limits.take('verify', key), undefined)
    })

    await t.test('after the whole period the full burst is available again', async () => {
      const key = newKey()
      await waitAfterAll(limits, key)
      await place.advance(300_000)
      await waitAfterAll(limits, key)
      await place.advance(3_000_000)
      await waitAfterAll(limits, key)
    })

    await t.test('keys and limiters are counted separately', async () => {
      const key = newKey()
      await waitAfterAll(limits, key)
      assert.equal(await limits.take('otp', key), undefined)
      assert.equal(await limits.take('verify', newKey()), undefined)
      assert.equal(await limits.take('verify', `${key}:otp`), undefined)
    })

    await t.test('concurrent requests are limited like consecutive ones', async () => {
      const key = newKey()
      const waits = await Promise.all(Array.from({ length: 20 }, () => limits.take('verify', key)))
      assert.equal(waits.filter((wait) => wait === undefined).length, 3)
    })

    await t.test('a disabled limit refuses nothing', async () => {
      const key = newKey()
      for (let taken = 0; taken < 100; taken++) {
        assert.equal(await limits.take('signup', key), undefined)
      }
      const { left, waitSeconds } = await limits.peek('signup', key)
      assert.deepEqual([left, waitSeconds], [Number.POSITIVE_INFINITY, 0])
    })

    await t.test('peeking counts nothing and returns the time to wait', async () => {
      const key = newKey()
      for (let peeks = 0; peeks < 10; peeks++) {
        assert.deepEqual(await limits.peek('verify', key), { left: 3, waitSeconds: 0 })
      }
      const wait = await waitAfterAll(limits, key)
      const room = await limits.peek('verify', key)
      assert.equal(room.left, 0)
      assert.ok(room.waitSeconds >= wait - 2 && room.waitSeconds <= wait, `${room.waitSeconds}`)
      await place.advance(room.waitSeconds * 1_000)
      assert.ok((await limits.peek('verify', key)).left >= 1)
    })

    await t.test('a cleared key starts again', async () => {
      const key = newKey()
      await waitAfterAll(limits, key)
      await limits.clear('verify', key)
      assert.ok((await limits.peek('verify', key)).left >= 1)
      // The protocol of rate limit services cannot undo counts.
      if (place.canClear) await waitAfterAll(limits, key)
    })

    await t.test('any text can be a key', async () => {
      for (const odd of ['', ' ', 'ü', '\0\r\n', 'a'.repeat(256), '*', '{x}:{y}']) {
        await waitAfterAll(limits, `${odd}${newKey()}`)
      }
    })

    const { store } = place
    if (!store) return

    await t.test('two processes share their counts', async () => {
      const other = await place.openLimits()
      const key = newKey()
      assert.equal(await limits.take('verify', key), undefined)
      assert.equal(await other.take('verify', key), undefined)
      assert.equal(await limits.take('verify', key), undefined)
      assert.ok((await other.take('verify', key)) !== undefined)
      assert.ok((await limits.take('verify', key)) !== undefined)
    })

    await t.test('without the store each process counts separately until it is back', async () => {
      const key = newKey()
      await waitAfterAll(limits, key)
      await store.kill()
      await waitAfterAll(limits, key)
      assert.equal(limits.log.length, 1)
      assert.match(limits.log[0] ?? '', /level=warning .*cannot be used: .+counts.*by itself/)
      assert.doesNotMatch(limits.log.join(), /p%40ss|p@ss/)
      const late = await place.openLimits()
      assert.match(late.log.join(), /cannot be used: .*ECONNREFUSED/)
      assert.equal(await late.take('verify', key), undefined)

      await store.restart()
      while (limits.log.length < 2 || late.log.length < 2) {
        for (const each of [limits, late]) await each.take('verify', newKey())
        await setTimeout(50)
      }
      assert.match(limits.log[1] ?? '', /responds again/)
      const shared = newKey()
      await waitAfterAll(limits, shared)
      assert.ok((await late.take('verify', shared)) !== undefined)
      assert.deepEqual([limits.log.length, late.log.length], [2, 2])
    })
  })
}
