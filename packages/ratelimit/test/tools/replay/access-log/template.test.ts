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

  test('has percent signs inside of the argument of a time', () => {
    const [time, rest] = parseTemplate('%START_TIME(%s.%3f)%|')
    assert.equal(typeof time === 'object' && time.argument, '%s.%3f')
    assert.equal(rest, '|')
  })

  test('has two percent signs for one', () => {
    assert.deepEqual(parseTemplate('100%% of'), ['100% of'])
  })

  test('is refused where a percent sign begins nothing, with its column', () => {
    assert.throws(
      () => parseTemplate('abc %DURATION'),
      (error: unknown) => error instanceof FormatError && error.column === 5,
    )
  })
})
