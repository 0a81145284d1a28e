import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { mostBuckets, Timeline } from '../../../../src/tools/replay/simulation/timeline.ts'

suite('a timeline', () => {
  test('assigns each time to its bucket, however long the log becomes', () => {
    const steps = fc.array(fc.oneof(fc.nat(5_000), fc.nat(500_000), fc.nat(50_000_000)), {
      minLength: 1,
      maxLength: 400,
    })
    fc.assert(
      fc.property(fc.nat(1_000_000_000), steps, (startMs, gaps) => {
        const timeline = new Timeline()
        const series = timeline.createSeries()
        const times: number[] = []
        let now = startMs
        for (const gap of gaps) {
          now += gap
          times.push(now)
          series.add(timeline.bucketOf(now), times.length % 3 === 0)
        }
        const { startSeconds, bucketSeconds, length } = timeline
        assert(length <= mostBuckets)
        const expected = new Map<number, [allowed: number, refused: number]>()
        for (const [index, time] of times.entries()) {
          const bucket = Math.floor((Math.floor(time / 1000) - startSeconds) / bucketSeconds)
          const [allowed, refused] = expected.get(bucket) ?? [0, 0]
          const isRefused = (index + 1) % 3 === 0
          expected.set(bucket, isRefused ? [allowed, refused + 1] : [allowed + 1, refused])
        }
        for (let bucket = 0; bucket < mostBuckets; bucket += 1) {
          const [allowed, refused] = expected.get(bucket) ?? [0, 0]
          assert.equal(series.allowed[bucket], allowed)
          assert.equal(series.refused[bucket], refused)
        }
        assert.equal(length, Math.max(...expected.keys()) + 1)
      }),
      { numRuns: 50 },
    )
  })

  test('has buckets of a second for a short log and of whole units for a long one', () => {
    const widthOf = (seconds: number) => {
      const timeline = new Timeline()
      timeline.bucketOf(0)
      timeline.bucketOf(seconds * 1000)
      return timeline.bucketSeconds
    }
    const widths = [10, 3600, 86_400, 7 * 86_400, 365 * 86_400].map(widthOf)
    assert.deepEqual(widths, [1, 15, 300, 3600, 604_800])
  })
})
