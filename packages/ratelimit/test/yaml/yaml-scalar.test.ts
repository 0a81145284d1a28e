import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ScalarType, toBoolean, toNumber, toScalarType } from '../../src/yaml/yaml-node.ts'

/** Each was checked with the YAML library of envoyproxy/ratelimit. */
const types: Readonly<Record<ScalarType, readonly string[]>> = {
  null: ['', '~', 'null', 'Null', 'NULL'],
  boolean: ['y', 'Y', 'yes', 'Yes', 'YES', 'n', 'N', 'no', 'on', 'On', 'ON', 'off', 'OFF', 'true'],
  integer: ['0', '00', '007', '0o17', '0O17', '0x1F', '0X1f', '0x_1F', '0b101', '0B11', '1_000'],
  float: ['1.5', '.5', '1.', '1e3', '1E-3', '.inf', '-.INF', '+.Inf', '.nan', '.NaN', '08', '089'],
  string: [
    'a',
    'yES',
    'tRUE',
    'nUll',
    '0x',
    '0b2',
    '0o8',
    '_1',
    '.',
    '..',
    '.e3',
    '1e400',
    '1.2.3',
  ],
}
const more: Readonly<Record<ScalarType, readonly string[]>> = {
  null: [],
  boolean: [],
  integer: ['1__0', '+5', '-5', '-0b1', '+0x5', '9223372036854775807', '-9223372036854775808'],
  float: ['9223372036854775808', '18446744073709551616', '-9223372036854775809', '12_3.5', '+.5'],
  string: ['1:30', '2020-01-01', '0xFFFFFFFFFFFFFFFFFF', '.Nan', 'NaN', '=', '<<', '1d', 'é', '-'],
}

for (const table of [types, more]) {
  for (const [type, texts] of Object.entries(table)) {
    for (const text of texts) {
      test(`the plain text '${text}' is of type ${type}`, () => {
        assert.equal(toScalarType(text), type)
      })
    }
  }
}

test('numbers have the expected values', () => {
  for (const [text, value] of [
    ['0', 0],
    ['-0', 0],
    ['007', 7],
    ['010', 8],
    ['-0x1F', -31],
    ['0b1_01', 5],
    ['+1_000', 1000],
    ['1.5e3', 1500],
    ['-.inf', Number.NEGATIVE_INFINITY],
  ] as const) {
    assert.equal(toNumber(text), value, text)
  }
  assert.ok(Number.isNaN(toNumber('.nan')))
})

test('booleans have the expected values', () => {
  assert.equal(toBoolean('On'), true)
  assert.equal(toBoolean('Off'), false)
})
