import assert from 'node:assert/strict'
import test from 'node:test'
import {
  listNames,
  parseChoice,
  parseCount,
  parseOptions,
  parsePositive,
  parseSelection,
  UsageError,
} from '../src/options.ts'

test('invalid values are reported with the name of the option', () => {
  const wrong: readonly (readonly [() => unknown, RegExp])[] = [
    [() => parseOptions(['--unheard-of'], {}), /^Unknown option --unheard-of\.$/],
    [() => parseOptions(['--users'], { users: { type: 'string' } }), /^--users needs a value\.$/],
    [() => parseCount('users', '1.5'), /^--users must be a whole number above 0, not "1.5"\.$/],
    [() => parseCount('users', '0'), /^--users must be a whole number above 0, not "0"\.$/],
    [() => parsePositive('share', '-1'), /^--share must be a number above 0, not "-1"\.$/],
    [() => parsePositive('share', 'Infinity'), /^--share must be a number above 0/],
    [() => parsePositive('share', 'half'), /^--share must be a number above 0, not "half"\.$/],
    [
      () => parseChoice('store', 'disk', ['memory', 'redis']),
      /^--store must be one of memory, redis/,
    ],
    [() => parseSelection('a,c', ['a', 'b']), /^Unknown name "c"\. Choose from: a, b\.$/],
  ]
  for (const [parse, message] of wrong) {
    assert.throws(parse, (error) => error instanceof UsageError && message.test(error.message))
  }
})

test('options have defaults, and everything is measured when nothing is named', () => {
  const options = { rounds: { type: 'string', default: '8' }, quick: { type: 'boolean' } } as const
  assert.deepEqual(
    { ...parseOptions(['--quick'], options) },
    { rounds: '8', quick: true, help: false },
  )
  assert.deepEqual(parseSelection(undefined, ['a', 'b']), ['a', 'b'])
  assert.deepEqual(parseSelection('b', ['a', 'b']), ['b'])
  assert.equal(parseChoice('store', 'redis', ['memory', 'redis']), 'redis')
  assert.deepEqual([parseCount('users', '12'), parsePositive('share', '0.5')], [12, 0.5])
})

test('a list of names is wrapped for a help page', () => {
  const name = 'x'.repeat(30)
  assert.equal(listNames([name, name, 'b'], 20), `${name},\n${' '.repeat(20)}${name}, b`)
})
