import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { isWildcard, matchesWildcard, toWildcard } from '../../src/rules/wildcard.ts'
import { WildcardIndex } from '../../src/rules/wildcard-index.ts'

function toIndex(patterns: readonly string[]): WildcardIndex<string> {
  const index = new WildcardIndex<string>()
  for (const pattern of patterns) index.add(pattern, pattern)
  return index
}

suite('the index of wildcards', () => {
  test('the first pattern of the file wins, not the longest', () => {
    assert.equal(toIndex(['a*', 'ab*', 'abc*']).find('abcd'), 'a*')
    assert.equal(toIndex(['abc*', 'ab*', 'a*']).find('abcd'), 'abc*')
    assert.equal(toIndex(['*d', 'abc*']).find('abcd'), '*d')
    assert.equal(toIndex(['abc*', '*d']).find('abcd'), 'abc*')
  })

  test('it finds what going through the patterns in order finds', () => {
    const text = (characters: string[], maxLength: number) =>
      fc.string({ unit: fc.constantFrom(...characters), maxLength })
    const characters = ['a', 'b', '_', 'é', '😀']
    const pattern = text([...characters, '*'], 6).filter(isWildcard)
    fc.assert(
      fc.property(
        fc.uniqueArray(pattern, { maxLength: 20 }),
        fc.array(text([...characters, '*'], 8), { maxLength: 20 }),
        (patterns, values) => {
          const index = toIndex(patterns)
          for (const value of values) {
            const first = patterns.find((each) => matchesWildcard(toWildcard(each), value))
            assert.equal(index.find(value), first, `'${value}' in ${patterns}`)
          }
        },
      ),
      { numRuns: 1_000 },
    )
  })

  test('among ten thousand prefixes each value finds its own', () => {
    const patterns = Array.from({ length: 10_000 }, (_, i) => `tenant/${i}/*`)
    const index = toIndex(patterns)
    for (let i = 0; i < patterns.length; i += 1) {
      assert.equal(index.find(`tenant/${i}/file`), patterns[i])
    }
    assert.equal(index.find('tenant/10000/file'), undefined)
    assert.equal(index.find('tenant/1'), undefined)
  })

  test('it remembers the patterns in the order of the file', () => {
    const patterns = ['b*', 'a*', '*']
    assert.deepEqual(
      toIndex(patterns).all.map(({ pattern }) => pattern),
      patterns,
    )
  })
})
