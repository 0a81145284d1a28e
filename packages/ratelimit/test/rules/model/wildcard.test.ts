import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { isWildcard, matchesWildcard, toWildcard } from '../../../src/rules/model/wildcard.ts'

const matches = (pattern: string, value: string) => matchesWildcard(toWildcard(pattern), value)

/** Tries every way to distribute the value over the stars. */
function matchesNaively(pattern: string, value: string): boolean {
  if (pattern === '') return value === ''
  if (pattern.startsWith('*')) {
    for (let i = 0; i <= value.length; i += 1) {
      if (matchesNaively(pattern.slice(1), value.slice(i))) return true
    }
    return false
  }
  return value[0] === pattern[0] && matchesNaively(pattern.slice(1), value.slice(1))
}

suite('wildcards', () => {
  const cases: readonly [pattern: string, matching: string[], other: string[]][] = [
    ['bar*b', ['barb', 'barab', 'bar123b'], ['bara', 'xbarb', 'bar']],
    ['foo*bar*baz', ['foobarbaz', 'foo123bar456baz'], ['foo123baz', 'bar456baz', 'foobar']],
    ['*', ['', 'a', '*', 'a/b_c'], []],
    ['foo*', ['foo', 'foo1', 'foo/bar', 'foo_bar', 'foo*'], ['fo', 'Foo', '']],
    ['*foo', ['foo', 'a foo'], ['foo ', 'fooo']],
    ['a*a', ['aa', 'aba', 'aaa'], ['a', '']],
    ['a**a', ['aa', 'a-a'], ['a']],
    ['*ab*ab', ['abab', 'ab-ab'], ['ab', 'aab']],
    ['é*', ['é', 'éa'], ['e', '']],
  ]
  for (const [pattern, matching, other] of cases) {
    test(`'${pattern}' matches the expected values and no others`, () => {
      for (const value of matching) assert.ok(matches(pattern, value), `'${value}' must match`)
      for (const value of other) assert.ok(!matches(pattern, value), `'${value}' must not match`)
    })
  }

  test('every pattern over a small alphabet agrees with the naive implementation', () => {
    const text = (characters: string, maxLength: number) =>
      fc.string({ unit: fc.constantFrom(...characters), maxLength })
    const pattern = text('ab*', 7).filter(isWildcard)
    fc.assert(
      fc.property(pattern, text('ab', 9), (rule, value) => {
        assert.equal(matches(rule, value), matchesNaively(rule, value))
      }),
      { numRuns: 3_000 },
    )
  })

  test('a text without a star is refused', () => {
    assert.throws(() => toWildcard('plain'), TypeError)
  })

  test('a long value that nearly matches many stars is checked quickly', () => {
    const pattern = `${'*a'.repeat(200)}*b`
    assert.equal(matches(pattern, 'a'.repeat(100_000)), false)
  })
})
