import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSteadyClock } from '../../../src/counters/memory/memory-store.ts'

function open() {
  const clocks = { now: 1_700_000_000_000, elapsed: 5000 }
  const seconds = createSteadyClock(
    () => clocks.now,
    () => clocks.elapsed,
  )
  const pass = (ms: number) => {
    clocks.now += ms
    clocks.elapsed += ms
  }
  return { clocks, seconds, pass }
}

test('it follows a clock that runs normally', () => {
  const { seconds, pass } = open()
  assert.equal(seconds(), 1_700_000_000)
  pass(86_400_500)
  assert.equal(seconds(), 1_700_086_400.5)
})

test('it follows a clock that is repeatedly corrected by less than a second', () => {
  const { clocks, seconds, pass } = open()
  for (let i = 1; i <= 10; i++) {
    pass(1000)
    clocks.now += 900
    assert.equal(seconds(), 1_700_000_000 + i * 1.9)
  }
})

test('it accepts a jump forward only after a minute', () => {
  const { clocks, seconds, pass } = open()
  clocks.now += 3_600_000
  assert.equal(seconds(), 1_700_000_000)
  pass(59_000)
  assert.equal(seconds(), 1_700_000_059)
  pass(1000)
  assert.equal(seconds(), 1_700_003_660)
})

test('it ignores a jump forward that was corrected', () => {
  const { clocks, seconds, pass } = open()
  clocks.now += 3_600_000
  seconds()
  pass(30_000)
  clocks.now -= 3_600_000
  assert.equal(seconds(), 1_700_000_030)
  pass(40_000)
  clocks.now += 3_600_000
  assert.equal(seconds(), 1_700_000_070)
})

test('it accepts a jump backward immediately', () => {
  const { clocks, seconds, pass } = open()
  clocks.now -= 3_600_000
  assert.equal(seconds(), 1_699_996_400)
  pass(1000)
  assert.equal(seconds(), 1_699_996_401)
})
