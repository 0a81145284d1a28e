import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { OK, OVER_LIMIT } from '../../src/protocol/message.ts'
import { descriptor, openDecider, requestFor } from '../support/decider.ts'

/** Keeps every change with its time, and adds up all of them for each count. */
class Model {
  readonly #windowMs: number
  readonly #most: number
  readonly #changes: { readonly atMs: number; readonly hits: number }[] = []

  constructor(windowMs: number, most: number) {
    this.#windowMs = windowMs
    this.#most = most
  }

  #sum(window: number): number {
    let sum = 0
    for (const { atMs, hits } of this.#changes) {
      if (Math.floor(atMs / this.#windowMs) === window) sum = Math.max(0, sum + hits)
    }
    return sum
  }

  /** Uses integers, so that there are no rounding errors. */
  count(atMs: number): number {
    const window = Math.floor(atMs / this.#windowMs)
    const left = BigInt((window + 1) * this.#windowMs - atMs)
    const whole = BigInt(this.#windowMs)
    const share = (BigInt(this.#sum(window - 1)) * left) / whole
    return this.#sum(window) + Number(share)
  }

  decide(atMs: number, hits: number): { isOver: boolean; remaining: number; reset: number } {
    const after = this.count(atMs) + Math.max(0, hits)
    if (hits < 0 || after <= this.#most) this.#changes.push({ atMs, hits })
    const now = hits < 0 ? this.count(atMs) : after
    const isOver = now > this.#most
    const remaining = isOver ? 0 : this.#most - now
    return { isOver, remaining, reset: this.#toReset(atMs, Math.max(0, hits), isOver) }
  }

  #toReset(atMs: number, hits: number, isOver: boolean): number {
    if (!isOver || hits > this.#most) {
      const nowSeconds = Math.floor(atMs / 1000)
      const unit = this.#windowMs / 1000
      const untilReset = unit - (nowSeconds % unit)
      return isOver ? Math.ceil((this.#windowMs - (atMs % this.#windowMs)) / 1000) : untilReset
    }
    let seconds = 1
    while (this.count(atMs + seconds * 1000) + hits > this.#most) seconds += 1
    return seconds
  }
}

const windows = [
  { unit: 'second', multiplier: 1, seconds: 1 },
  { unit: 'second', multiplier: 7, seconds: 7 },
  { unit: 'minute', multiplier: 1, seconds: 60 },
  { unit: 'minute', multiplier: 5, seconds: 300 },
]
const limits = [0, 1, 2, 5, 23]

const rules = `
domain: d
descriptors:
${windows
  .flatMap(({ unit, multiplier, seconds }) =>
    limits.map(
      (limit) => `
  - key: w${seconds}_${limit}
    rate_limit:
      { unit: ${unit}, unit_multiplier: ${multiplier}, requests_per_unit: ${limit},
        algorithm: sliding_window }`,
    ),
  )
  .join('')}
`

const step = fc.record({
  /** In windows, so that windows of every length are crossed equally often. */
  wait: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 2.5, noNaN: true })),
  hits: fc.oneof(fc.constant(1), fc.integer({ min: 0, max: 6 }), fc.integer({ min: -4, max: 30 })),
})

test('every response equals that of a model that keeps every hit', async (t) => {
  const decider = openDecider(t, rules)
  let runs = 0
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...windows),
      fc.constantFrom(...limits),
      fc.integer({ min: 0, max: 400_000 }),
      fc.array(step, { minLength: 1, maxLength: 40 }),
      async ({ seconds }, limit, startMs, steps) => {
        const value = `${++runs}`
        const model = new Model(seconds * 1000, limit)
        const key = `w${seconds}_${limit}`
        const before = { ...decider.statistics.rules.forRequest(`d.${key}`) }
        let hitsAsked = 0
        let nowMs = 1_700_000_000_000 + startMs
        for (const { wait, hits } of steps) {
          nowMs += Math.floor(wait * seconds * 1000)
          decider.now = nowMs / 1000
          const asked = { hitsAddend: Math.abs(hits), isNegativeHits: hits < 0 }
          const answer = await decider.decide(requestFor('d', descriptor(`${key}=${value}`, asked)))
          const { isOver, remaining, reset } = model.decide(Math.floor(decider.now * 1000), hits)
          assert.deepEqual(
            answer.statuses.map((status) => [
              status.code,
              status.limitRemaining,
              status.resetSeconds,
            ]),
            [[isOver ? OVER_LIMIT : OK, remaining, reset]],
          )
          hitsAsked += Math.max(0, hits)
        }
        const after = decider.statistics.rules.forRequest(`d.${key}`)
        const total = after.totalHits - before.totalHits
        const within = after.withinLimit - before.withinLimit
        assert.equal(total, hitsAsked)
        assert.equal(total, within + after.overLimit - before.overLimit)
        assert.ok(after.nearLimit - before.nearLimit <= within)
      },
    ),
    { numRuns: 300 },
  )
})

test('a burst around the start of a window is at most the limit, one more and the share that has slid out', async (t) => {
  const decider = openDecider(t, rules)
  let runs = 0
  const call = fc.record({
    /** In windows, relative to the start of one. */
    at: fc.double({ min: -1, max: 1, maxExcluded: true, noNaN: true }),
    hits: fc.integer({ min: 1, max: 3 }),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...windows),
      fc.constantFrom(...limits),
      fc.array(call, { minLength: 20, maxLength: 80 }),
      async ({ seconds }, limit, calls) => {
        const value = `burst ${++runs}`
        const startSeconds = seconds * Math.ceil(1_700_000_000 / seconds)
        let [before, current] = [0, 0]
        for (const { at, hits } of calls.sort((a, b) => a.at - b.at)) {
          decider.now = startSeconds + Math.floor(at * seconds * 1000) / 1000
          const asked = descriptor(`w${seconds}_${limit}=${value}`, { hitsAddend: hits })
          if ((await decider.decide(requestFor('d', asked))).overallCode !== OK) continue
          if (at < 0) before += hits
          else current += hits
          const part = Math.max(0, decider.now - startSeconds) / seconds
          assert.ok(before <= limit && current <= limit, `${before}, ${current} of ${limit}`)
          assert.ok(before + current < limit + 1 + limit * part, `${before} + ${current}, ${part}`)
        }
      },
    ),
    { numRuns: 200 },
  )
})
