import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { Reordering } from '../../../../src/tools/replay/log/reordering.ts'
import type { RecordedRequest } from '../../../../src/tools/replay/recorded-request.ts'

function toRequest(timeMs: number, domain = 'api'): RecordedRequest {
  return { timeMs, domain, descriptors: [], hitsAddend: 1 }
}

function reorder(windowMs: number, times: readonly number[]) {
  const given: { timeMs: number; isLate: boolean }[] = []
  const reordering = new Reordering(windowMs, ({ timeMs }, isLate) =>
    given.push({ timeMs, isLate }),
  )
  for (const time of times) reordering.push(toRequest(time))
  reordering.end()
  return given
}

suite('requests out of order', () => {
  test('within the window are sorted by time', () => {
    const times = fc.array(fc.nat(9_000))
    fc.assert(
      fc.property(times, fc.nat(100), (jitters, step) => {
        const log = jitters.map((jitter, index) => index * step + jitter)
        const given = reorder(10_000, log)
        assert.deepEqual(
          given.map(({ timeMs }) => timeMs),
          log.toSorted((a, b) => a - b),
        )
        assert(given.every(({ isLate }) => !isLate))
      }),
    )
  })

  test('that are later than the window are passed on immediately and marked', () => {
    assert.deepEqual(reorder(10_000, [0, 30_000, 5_000, 31_000]), [
      { timeMs: 0, isLate: false },
      { timeMs: 5_000, isLate: true },
      { timeMs: 30_000, isLate: false },
      { timeMs: 31_000, isLate: false },
    ])
  })

  test('of the same millisecond stay in the order of the log', () => {
    const given: string[] = []
    const reordering = new Reordering(1_000, ({ domain }) => given.push(domain))
    for (const [time, name] of [
      [5, 'a'],
      [3, 'b'],
      [5, 'c'],
      [3, 'd'],
    ] as const) {
      reordering.push(toRequest(time, name))
    }
    reordering.end()
    assert.deepEqual(given, ['b', 'd', 'a', 'c'])
  })

  test('are delayed no longer than the window', () => {
    const given: number[] = []
    const reordering = new Reordering(2_000, ({ timeMs }) => given.push(timeMs))
    for (let second = 0; second < 10; second += 1) reordering.push(toRequest(second * 1000))
    assert.deepEqual(given, [0, 1000, 2000, 3000, 4000, 5000, 6000])
  })
})
