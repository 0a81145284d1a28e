import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { ApiError } from '../../src/errors.ts'
import { createBuckets } from '../../src/limits/buckets.ts'
import { createGuesses, type GuessLimit } from '../../src/limits/guesses.ts'
import {
  type LimitTable,
  limiterNames,
  type RequestLimits,
} from '../../src/limits/request-limits.ts'

const three = { most: 3, periodMs: 300_000, burst: 3 }
const table = Object.fromEntries(limiterNames.map((name) => [name, three])) as LimitTable

/** Counts synchronously, as in the process, or asynchronously, as in another server. */
const kinds: Readonly<Record<string, () => RequestLimits>> = {
  'in the process': () => createBuckets(table, () => 0),
  'by another server': () => {
    const buckets = createBuckets(table, () => 0)
    const later = async <Result>(work: () => Result): Promise<Awaited<Result>> => {
      await setImmediate()
      const result = await work()
      await setTimeout(Math.random() * 3)
      return result
    }
    return {
      take: (...of) => later(() => buckets.take(...of)),
      peek: (...of) => later(() => buckets.peek(...of)),
      clear: (...of) => later(() => buckets.clear(...of)),
    }
  },
}

const account: GuessLimit = { limiter: 'password', key: 'a', endsWithSuccess: true }
const all: GuessLimit = { limiter: 'password_account', key: 'a' }

for (const [kind, open] of Object.entries(kinds)) {
  test(`guesses that are counted ${kind}`, async (t) => {
    const openGuesses = () => {
      const limits = open()
      const { guard } = createGuesses(limits)
      let checked = 0
      const guess = async (isRight: boolean, on: readonly GuessLimit[] = [account]) => {
        try {
          const result = await guard(on, async () => {
            checked += 1
            await setImmediate()
            return { isRight }
          })
          return result.isRight
        } catch (error) {
          assert.ok(error instanceof ApiError)
          assert.deepEqual([error.status, error.code], [429, 'over_request_rate_limit'])
          return error.retryAfterSeconds
        }
      }
      return { limits, guard, guess, countChecked: () => checked }
    }

    await t.test('after too many wrong guesses the right one is not checked', async () => {
      const { guess, countChecked } = openGuesses()
      for (let at = 0; at < 3; at += 1) assert.equal(await guess(false), false)
      assert.deepEqual([await guess(false), await guess(true)], [100, 100])
      assert.equal(countChecked(), 3)
    })

    await t.test('a right guess clears only the limits that it may clear', async () => {
      const { guess } = openGuesses()
      const both = [account, all]
      for (const isRight of [false, false, true]) assert.equal(await guess(isRight, both), isRight)
      assert.equal(await guess(false, both), false)
      // Two guesses are left for the account alone, and none for all addresses together.
      assert.deepEqual([await guess(false), await guess(false, both)], [false, 100])
    })

    await t.test(
      'of many concurrent wrong guesses, only as many as the limit are checked',
      async () => {
        const { guess, countChecked } = openGuesses()
        const results = await Promise.all(Array.from({ length: 30 }, () => guess(false)))
        assert.equal(countChecked(), 3)
        assert.equal(results.filter((result) => result === false).length, 3)
        assert.equal(results.filter((result) => typeof result === 'number').length, 27)
      },
    )

    await t.test('any number of concurrent right guesses is accepted', async () => {
      const { guess } = openGuesses()
      const results = await Promise.all(Array.from({ length: 30 }, () => guess(true)))
      assert.deepEqual(new Set(results), new Set([true]))
    })

    await t.test('of concurrent right and wrong guesses, the wrong ones are limited', async () => {
      const { guess, countChecked } = openGuesses()
      const results = await Promise.all(
        Array.from({ length: 60 }, (_, at) => guess(at % 2 === 0, [all])),
      )
      assert.equal(results.filter((result) => result === false).length, 3)
      assert.ok(countChecked() >= 3)
    })

    await t.test('a check that throws is not counted and blocks no other', async () => {
      const { guard, guess } = openGuesses()
      for (let at = 0; at < 5; at += 1) {
        const failing = guard([account], () => Promise.reject(new Error('database unavailable')))
        await assert.rejects(failing, /database unavailable/)
      }
      assert.equal(await guess(true), true)
    })

    await t.test('an exempt caller is accepted and still counted', async () => {
      const { guess, limits } = openGuesses()
      for (let at = 0; at < 3; at += 1) await guess(false, [all])
      const exempt = { ...all, isExempt: async () => true }
      const others = { ...all, isExempt: async () => false }
      assert.deepEqual([await guess(true, [exempt]), await guess(true, [others])], [true, 100])
      assert.equal(await guess(false, [exempt]), false)
      assert.equal((await limits.peek('password_account', 'a')).left, 0)
    })

    await t.test('a custom error is thrown if there is one', async () => {
      const { guard, guess } = openGuesses()
      for (let at = 0; at < 3; at += 1) await guess(false)
      const own = {
        ...account,
        toError: (seconds: number) => new ApiError('conflict', `${seconds}`),
      }
      const refused = guard([own], async () => ({ isRight: true }))
      await assert.rejects(refused, { code: 'conflict', message: '100' })
    })
  })
}
