import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fullPageWords } from '../../../src/counters/memory/rewrite-pages.ts'
import { CounterTable, TableFullError } from '../../../src/counters/memory/table.ts'

const start = 1_700_000_000

/** A key of 76 characters. */
function toKey(i: number): string {
  return `domain_remote_address_${String(i).padStart(10, '0')}_path_${'x'.repeat(37)}_`
}

function createTable(
  clock: { now: number },
  maxBytes = Number.POSITIVE_INFINITY,
  evicts = false,
): CounterTable {
  return new CounterTable({ nowSeconds: () => clock.now, maxBytes, evicts })
}

/**
 * Counts in a Map. A counter whose window has ended at some time may have been dropped: then the table may
 * continue or start at 0, and the model adopts the result.
 */
class Model {
  readonly #counters = new Map<string, { count: number; end: number; wasOver: boolean }>()

  passTime(now: number): void {
    for (const counter of this.#counters.values()) counter.wasOver ||= counter.end <= now
  }

  check(
    key: string,
    window: number,
    unitSeconds: number,
    hits: number,
    after: number,
    now: number,
  ) {
    const name = `${window} ${key}`
    const known = this.#counters.get(name)
    const counts = [(known?.count ?? 0) + hits].concat(known?.wasOver ? [hits] : [])
    const allowed = counts.map((count) => Math.max(0, count))
    assert.ok(allowed.includes(after), `${name} + ${hits}: ${after}, not one of ${allowed}`)
    if (known === undefined && hits <= 0) return
    const end = Math.max(known?.end ?? 0, window + unitSeconds)
    this.#counters.set(name, { count: after, end, wasOver: end <= now })
  }
}

type Step =
  | { readonly kind: 'add'; readonly key: string; readonly unit: number; readonly hits: number }
  | {
      readonly kind: 'addMany'
      readonly from: number
      readonly count: number
      readonly unit: number
    }
  | { readonly kind: 'clock'; readonly by: number }
  | { readonly kind: 'sweep'; readonly share: number }

const unit = fc.constantFrom(1, 60, 3600, 86_400)
const steps = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('add' as const),
        key: fc.oneof(
          fc.constantFrom('a_', 'b_', 'a_b_', 'ä_', '\ud800', '\udc00', ''),
          fc.string({ unit: 'binary', maxLength: 40 }),
        ),
        unit,
        hits: fc.oneof(fc.integer({ min: -5, max: 5 }), fc.integer({ min: 0, max: 2 ** 40 })),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('addMany' as const),
        from: fc.integer({ min: 0, max: 3000 }),
        count: fc.integer({ min: 0, max: 1500 }),
        unit,
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('clock' as const),
        by: fc.oneof(fc.integer({ min: -5, max: 70 }), fc.integer({ min: -90_000, max: 90_000 })),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('sweep' as const),
        share: fc.double({ min: 0, max: 1, noNaN: true }),
      }),
    },
  ) satisfies fc.Arbitrary<Step>,
  { maxLength: 40 },
)

test('it counts like a Map, for any keys, windows, units, hits and clock changes', () => {
  fc.assert(
    fc.property(steps, (todo) => {
      const clock = { now: start }
      const table = createTable(clock)
      const model = new Model()
      const addOne = (key: string, unitSeconds: number, hits: number) => {
        const window = Math.floor(clock.now / unitSeconds) * unitSeconds
        const after = table.add(key, window, unitSeconds, hits)
        model.check(key, window, unitSeconds, hits, after, clock.now)
        assert.equal(table.read(key, window), after)
      }
      for (const step of todo) {
        if (step.kind === 'add') addOne(step.key, step.unit, step.hits)
        else if (step.kind === 'sweep') table.sweep(step.share, 1000)
        else if (step.kind === 'clock') {
          clock.now += step.by
          model.passTime(clock.now)
        } else {
          for (let i = 0; i < step.count; i++) addOne(toKey(step.from + i), step.unit, 1)
        }
      }
      table.free()
    }),
    { numRuns: 60 },
  )
})

test('every count stays exact while the table grows, drops half of its counters and shrinks', () => {
  const clock = { now: start }
  const table = createTable(clock)
  const counters = 60_000
  const unitOf = (i: number) => (i % 2 === 0 ? 60 : 86_400)
  for (let round = 1; round <= 2; round++) {
    for (let i = 0; i < counters; i++) assert.equal(table.add(toKey(i), start, unitOf(i), 1), round)
  }
  assert.equal(table.size, counters)
  const fullBytes = table.bytes

  clock.now += 61
  table.sweep(1, Number.POSITIVE_INFINITY)
  assert.equal(table.size, counters / 2)
  for (let i = 1; i < counters; i += 2) assert.equal(table.read(toKey(i), start), 2)
  for (let i = 0; i < counters; i += 2) assert.equal(table.read(toKey(i), start), 0)
  assert.ok(table.bytes < fullBytes * 0.7, `${table.bytes} of ${fullBytes} bytes`)

  clock.now += 86_400
  table.sweep(1, Number.POSITIVE_INFINITY)
  assert.deepEqual({ size: table.size, pages: table.pages }, { size: 0, pages: 2 })
  assert.ok(table.bytes < 10_000, `${table.bytes} bytes`)
  for (let i = 0; i < 100; i++) assert.equal(table.add(toKey(i), clock.now, 60, 1), 1)
})

test('a counter with a 76-byte key takes less than 150 bytes, however many there are', () => {
  const table = createTable({ now: start })
  for (let i = 1; i <= 150_000; i++) {
    table.add(toKey(i), start, 60, 1)
    if (i >= 20_000 && i % 1000 === 0) {
      assert.ok(table.bytes / i < 150, `${table.bytes / i} bytes each at ${i}`)
    }
  }
})

test('no step rewrites more than a page or two, however many counters there are', () => {
  const clock = { now: start }
  const table = createTable(clock)
  const workOf = (step: () => void) => {
    const before = table.work
    step()
    return table.work - before
  }
  const most = 2 * fullPageWords
  let longest = 0
  for (let i = 0; i < 200_000; i++) {
    longest = Math.max(
      longest,
      workOf(() => table.add(toKey(i), start, i % 3 ? 60 : 3600, 1)),
    )
  }
  assert.ok(longest > fullPageWords / 2, 'pages were rewritten')
  assert.ok(longest <= most, `an add did ${longest}`)

  for (const later of [61, 3600]) {
    clock.now += later
    let swept = 0
    for (let i = 0; i < 1000; i++)
      swept = Math.max(
        swept,
        workOf(() => table.sweep(1, 1)),
      )
    assert.ok(swept > 0, 'pages were swept')
    assert.ok(swept <= most, `a step of the sweep did ${swept}`)
  }
  assert.equal(table.size, 0)
})

test('new keys reuse the memory of expired counters without a sweep', () => {
  const clock = { now: start }
  const table = createTable(clock)
  for (let i = 0; i < 20_000; i++) table.add(toKey(i), start, 1, 1)
  const { bytes } = table
  for (let second = 1; second <= 10; second++) {
    clock.now = start + second
    for (let i = 0; i < 20_000; i++) {
      assert.equal(table.add(toKey(second * 20_000 + i), clock.now, 1, 1), 1)
    }
  }
  assert.ok(table.bytes < bytes * 2, `${table.bytes} bytes after, ${bytes} before`)
})

test('at its memory limit it refuses quickly and changes nothing', () => {
  const table = createTable({ now: start }, 200_000)
  let made = 0
  assert.throws(() => {
    for (; ; made++) table.add(toKey(made), start, 60, 1)
  }, TableFullError)
  const { size, bytes, work } = table
  for (let i = 0; i < 100; i++) {
    assert.throws(() => table.add(toKey(made), start, 60, 1), TableFullError)
  }
  assert.deepEqual({ size: table.size, bytes: table.bytes }, { size, bytes })
  assert.ok(table.work - work <= 200, `${table.work - work} for 100 refusals`)
  assert.equal(table.read(toKey(made), start), 0)
  for (let i = 0; i < made; i++) assert.equal(table.read(toKey(i), start), 1)
})

test('at its memory limit a flood of new values evicts itself, and counters with more hits are kept', () => {
  const table = createTable({ now: start }, 400_000, true)
  for (let i = 0; i < 500; i++) table.add(`busy_${i}_`, start, 60, 5)
  for (let i = 0; i < 50_000; i++) assert.equal(table.add(toKey(i), start, 60, 1), 1)
  for (let i = 0; i < 500; i++) assert.equal(table.read(`busy_${i}_`, start), 5)
  assert.ok(table.bytes <= 1.2 * 400_000, `${table.bytes} bytes`)
  assert.ok(table.evicted > 40_000 && table.size < 10_000, `${table.evicted}, ${table.size}`)
  // A record that does not fit into a page is still refused.
  assert.throws(() => table.add('x'.repeat(600_000), start, 60, 1), TableFullError)
})
