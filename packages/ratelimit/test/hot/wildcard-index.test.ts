import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { compileRules } from '../../src/rules/match/snapshot.ts'
import { isWildcard, matchesWildcard, toWildcard } from '../../src/rules/model/wildcard.ts'
import { KeyRecorder, toDescriptor, toRuleSet } from '../support/nested-rules.ts'

/** Finds sibling patterns; those of another key must not be found. */
function toIndex(patterns: readonly string[]) {
  const limit = { requests: 1 }
  const rules = patterns.flatMap((value) => [
    { key: 'other', value, limit },
    { key: 'k', value, limit },
  ])
  const snapshot = compileRules(toRuleSet({ d: rules }), new KeyRecorder())
  return {
    find(value: string): string | undefined {
      const path = snapshot.match('d', toDescriptor(`k=${value}`))?.limit.path
      return path?.slice('d.k_'.length)
    },
  }
}

suite('the index of wildcards', () => {
  test('the first pattern of the file wins, not the longest', () => {
    assert.equal(toIndex(['a*', 'ab*', 'abc*']).find('abcd'), 'a*')
    assert.equal(toIndex(['abc*', 'ab*', 'a*']).find('abcd'), 'abc*')
    assert.equal(toIndex(['*d', 'abc*']).find('abcd'), '*d')
    assert.equal(toIndex(['abc*', '*d']).find('abcd'), 'abc*')
  })

  test('it finds the same pattern as trying all patterns in order', () => {
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
            const exact = patterns.find((each) => each === value)
            const first = exact ?? patterns.find((each) => matchesWildcard(toWildcard(each), value))
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

  test('there may be many patterns that begin with a star', () => {
    const patterns = Array.from({ length: 20_000 }, (_, i) => `*/${i}`)
    const index = toIndex(patterns)
    assert.equal(index.find('a/0'), '*/0')
    assert.equal(index.find('a/19999'), '*/19999')
    assert.equal(index.find('a/20000'), undefined)
  })
})
