import assert from 'node:assert/strict'
import test from 'node:test'
import { evaluateGoals, formatGoals, isMeasured, toExitCode, toGoal } from '../src/goals.ts'

const goals = evaluateGoals([
  toGoal(['rate', 'at least', 2, 2]),
  { text: 'pause', direction: 'at most', wanted: 20, reached: 20.00049 },
  { text: 'ratio', wanted: 9, reached: 8.99951 },
  { text: 'peer', wanted: 1, reached: Number.NaN },
  { text: 'memory', direction: 'at most', wanted: 1, reached: undefined },
])

test('a goal is reached, missed or not measured, and ratios are rounded to thousandths', () => {
  assert.deepEqual(
    goals.map(({ reached, isReached }) => [reached, isReached]),
    [
      [2, true],
      [20, false],
      [9, false],
      [null, null],
      [null, null],
    ],
  )
  assert.deepEqual(Object.keys(goals[0] ?? {}), [
    'text',
    'direction',
    'wanted',
    'reached',
    'isReached',
  ])
  assert.deepEqual(Object.keys(goals[2] ?? {}), ['text', 'wanted', 'reached', 'isReached'])
  assert.equal(goals.filter(isMeasured).length, 3)
})

test('goals are listed with the required value', () => {
  const [, rate, pause, ratio, peer] = formatGoals(goals).split('\n')
  assert.match(rate ?? '', /reached.* {2}rate: 2\.00 \(wanted at least 2\)$/)
  assert.match(pause ?? '', /missed .* {2}pause: 20\.0 \(wanted at most 20\)$/)
  assert.match(ratio ?? '', /missed .* {2}ratio: 9\.00 \(wanted 9\)$/)
  assert.match(peer ?? '', /unknown.* {2}peer: not measured \(wanted 1\)$/)
})

test('only a missed goal fails a strict run', () => {
  const unknown = evaluateGoals([{ text: 'peer', wanted: 1, reached: undefined }])
  assert.equal(toExitCode(goals, true), 1)
  assert.equal(toExitCode(goals, false), 0)
  assert.equal(toExitCode(unknown, true), 0)
})
