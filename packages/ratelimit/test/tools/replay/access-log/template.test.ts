import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { FormatError, parseTemplate } from '../../../../src/tools/replay/access-log/operators.ts'

suite('a text with operators', () => {
  test('is split into text and operators with their columns', () => {
    assert.deepEqual(parseTemplate('[%START_TIME%] %REQ(X-A?:B):10%'), [
      '[',
      { name: 'START_TIME', argument: undefined, text: '%START_TIME%', column: 2 },
      '] ',
      { name: 'REQ', argument: 'X-A?:B', text: '%REQ(X-A?:B):10%', column: 16 },
    ])
  })

  test('can contain percent signs inside the argument of a time', () => {
    const [time, rest] = parseTemplate('%START_TIME(%s.%3f)%|')
    assert.equal(typeof time === 'object' && time.argument, '%s.%3f')
    assert.equal(rest, '|')
  })

  test('contains two percent signs for one', () => {
    assert.deepEqual(parseTemplate('100%% of'), ['100% of'])
  })

  test('is refused with the column if a percent sign does not start an operator', () => {
    assert.throws(
      () => parseTemplate('abc %DURATION'),
      (error: unknown) => error instanceof FormatError && error.column === 5,
    )
  })
})
