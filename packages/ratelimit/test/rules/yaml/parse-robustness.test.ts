import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { faultsOf, parseText, rulesOf } from '../../support/parse-text.ts'
import { damagedYaml, garbage, shuffledYaml } from '../../support/yaml-samples.ts'

test('the parser never throws, and every fault has a position within the text', () => {
  fc.assert(
    fc.property(fc.oneof(damagedYaml, shuffledYaml, garbage, fc.string()), (text) => {
      const { rules, faults, warnings } = parseText(text)
      const lines = text.split(/\r\n?|\n/)
      for (const { place, message } of [...faults, ...warnings]) {
        const line = lines[place.line - 1]
        assert.ok(line !== undefined && place.column >= 1, message)
        assert.ok(place.column <= line.length + 1, message)
      }
      assert.equal(faults.length > 0, rules.domains.length === 0)
    }),
    { numRuns: 1000 },
  )
})

test('aliases that expand to billions of values are refused quickly', () => {
  let text = 'domain: d\ndescriptors:\n  - &a0 {key: k, metadata: {x: 1}}\n'
  for (let level = 1; level <= 40; level++) {
    const aliases = Array(9)
      .fill(`*a${level - 1}`)
      .join(', ')
    text += `  - &a${level} {key: k${level}, descriptors: [${aliases}]}\n`
  }
  assert.match(faultsOf(text)[0] ?? '', /aliases expand to more than 1000000 values/)
})

test('a merge key bomb is refused quickly', () => {
  const names = Array.from({ length: 2000 }, (_, index) => `n${index}: 1`).join(', ')
  const merges = Array(2000).fill('*m').join(', ')
  const text = `domain: d\nmetadata: &m {${names}}\ndescriptors: [{key: k, <<: [${merges}]}]\n`
  assert.match(faultsOf(text)[0] ?? '', /aliases expand to more than 1000000 values/)
})

test('legitimate use of aliases is accepted', () => {
  const uses = Array.from({ length: 2000 }, (_, index) => `  - {key: k${index}, rate_limit: *l}\n`)
  const text = `domain: d\ndescriptors:\n  - {key: k, rate_limit: &l {unit: day, requests_per_unit: 1}}\n`
  assert.equal(rulesOf(text + uses.join('')).length, 2001)
})

test('an alias inside its own anchor is refused', () => {
  for (const text of [
    'domain: d\ndescriptors: &x [{key: k, descriptors: *x}]\n',
    'domain: d\ndescriptors:\n  - &x\n    key: k\n    <<: *x\n',
    'domain: d\ndescriptors: [{key: k, metadata: &x {a: {b: [*x]}}}]\n',
  ]) {
    assert.match(faultsOf(text)[0] ?? '', /anchor 'x' contains itself/)
  }
})

test('endless nesting is refused', () => {
  for (const [opening, depth] of [
    ['[', 20_000],
    ['{a: ', 20_000],
    ['- ', 12_000],
    ['? ', 12_000],
  ] as const) {
    assert.match(
      faultsOf(opening.repeat(depth))[0] ?? '',
      /error loading config file: yaml: /,
      opening,
    )
  }
  const [fault] = faultsOf(`domain: d\nmetadata: ${'['.repeat(1500)}${']'.repeat(1500)}\n`)
  assert.match(fault ?? '', /nested deeper than 1000 levels/)
})

test('rules may be nested two hundred levels deep', () => {
  let text = 'domain: d\ndescriptors:\n'
  for (let level = 0; level < 200; level++) {
    const indent = '  '.repeat(level)
    text += `${indent}- key: k${level}\n${indent}  descriptors:\n`
  }
  const rules = rulesOf(text)
  assert.equal(rules.length, 200)
  assert.equal(rules.at(-1)?.parent, 198)
})

test('a value of ten megabytes is accepted', () => {
  const value = 'x'.repeat(10_000_000)
  assert.equal(
    rulesOf(`domain: d\ndescriptors:\n  - key: k\n    value: ${value}\n`)[0]?.value,
    value,
  )
  const [fault] = parseText(`domain: d\ndescriptors:\n  - key: k\n    value: [${value}]\n`).faults
  assert.ok(fault && fault.message.length < 20_000_000)
})

test('very many unknown keys are refused with a bounded number of messages', () => {
  const keys = Array.from({ length: 50_000 }, (_, index) => `request_per_unit${index}: 1\n`)
  const { faults } = parseText(`domain: d\n${keys.join('')}`)
  assert.equal(faults.length, 101)
})
