import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseArgs } from 'node:util'
import {
  parseOrExplain,
  toArgumentError,
  toArgumentFault,
  toValueFault,
  toVerbFault,
} from '@portcullis/service-kit/cli/argument-faults'

test('errors are listed one per line, before a reference to the help', () => {
  assert.equal(
    toArgumentError('tool go', 'The place is missing.', '--by needs a value.'),
    'The place is missing.\n--by needs a value.\nSee: tool go --help\n',
  )
})

test('a missing or unknown verb is reported with the known ones, and a similar one is suggested', () => {
  assert.equal(toVerbFault(undefined, ['list', 'add']), 'The verb is missing. Verbs: list, add.')
  assert.equal(toVerbFault('x', ['list']), 'Unknown verb "x". Verbs: list.')
  assert.equal(
    toVerbFault('lsit', ['list', 'add']),
    'Unknown verb "lsit". Verbs: list, add. Did you mean list?',
  )
})

test('an invalid value is quoted', () => {
  assert.equal(
    toValueFault('--port', 'a number', 'a "b"'),
    '--port must be a number, not "a \\"b\\"".',
  )
})

const options = {
  config: { type: 'string', short: 'c' },
  'dry-run': { type: 'boolean' },
} as const

for (const [args, fault] of [
  [['--nope'], 'Unknown option --nope.'],
  [['-x'], 'Unknown option -x.'],
  [['now'], 'Unexpected argument "now".'],
  [['--config'], '--config needs a value.'],
  [['-c'], '--config needs a value.'],
  [['--dry-run=yes'], '--dry-run takes no value.'],
  [
    ['--config', '-x'],
    '--config needs a value. If the value starts with a dash, write --config=VALUE.',
  ],
] as const) {
  test(`the arguments ${args.join(' ')} are explained`, () => {
    assert.throws(
      () => parseArgs({ args: [...args], options }),
      (error) => toArgumentFault(error) === fault,
    )
  })
}

test('arguments are parsed, or a message explains them', () => {
  const parse = (...args: string[]) => parseOrExplain(() => parseArgs({ args, options }).values)
  assert.deepEqual({ ...Object(parse('--config', 'a')) }, { config: 'a' })
  assert.equal(parse('--nope'), 'Unknown option --nope.')
})

test('an error of another origin keeps its message', () => {
  assert.equal(toArgumentFault(new Error('no')), 'no')
  assert.equal(toArgumentFault('no'), 'no')
})
