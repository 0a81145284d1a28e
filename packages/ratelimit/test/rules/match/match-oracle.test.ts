import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { toPlainLimit } from '../../../src/hot/rule-limit.ts'
import { compileRules } from '../../../src/rules/match/snapshot.ts'
import { matchesWildcard, toWildcard } from '../../../src/rules/model/wildcard.ts'
import {
  KeyRecorder,
  type NestedRule,
  toDescriptor,
  toRuleSet,
} from '../../support/nested-rules.ts'

interface Level {
  readonly rule: NestedRule
  readonly value: string
}

interface Expected {
  readonly path: string
  readonly key: string
  readonly shared: readonly (string | undefined)[] | undefined
}

/** A naive implementation of matching. */
function decideNaively(rules: readonly NestedRule[], pairs: readonly [string, string][]) {
  const levels: Level[] = []
  let siblings = rules
  for (const [key, value] of pairs) {
    const sameKey = siblings.filter((rule) => rule.key === key)
    const rule =
      sameKey.find((each) => each.value !== '' && each.value === value) ??
      sameKey.find(
        (each) => isPattern(each) && matchesWildcard(toWildcard(valueIn(each)), value),
      ) ??
      sameKey.find((each) => valueIn(each) === '')
    if (rule === undefined) return undefined
    levels.push({ rule, value })
    siblings = rule.rules ?? []
  }
  const leaf = levels.at(-1)?.rule
  return leaf?.limit === undefined ? undefined : toExpected(levels, leaf)
}

function toExpected(levels: readonly Level[], leaf: NestedRule): Expected {
  const written = levels.map(({ rule }) => joined(rule.key, valueIn(rule)))
  const counted = levels.map(({ rule, value }) => {
    if (isShared(rule)) return joined(rule.key, valueIn(rule))
    if (leaf.detailedMetric) return `${rule.key}_${value}`
    const isNamed = rule.valueToMetric && (valueIn(rule) === '' || isPattern(rule))
    return joined(rule.key, isNamed ? value : valueIn(rule))
  })
  const shared = levels.map(({ rule }) => (isShared(rule) ? valueIn(rule) : undefined))
  return {
    path: ['d', ...written].join('.'),
    key: ['d', ...counted].join('.'),
    shared: shared.some((value) => value !== undefined) ? shared : undefined,
  }
}

const valueIn = (rule: NestedRule) => rule.value ?? ''
const isPattern = (rule: NestedRule) => valueIn(rule).includes('*')
const isShared = (rule: NestedRule) => rule.shareThreshold === true && isPattern(rule)
const joined = (key: string, value: string) => (value === '' ? key : `${key}_${value}`)

const characters = ['a', 'b', '_', '*', 'é', '😀']
const text = (maxLength: number) => fc.string({ unit: fc.constantFrom(...characters), maxLength })
const key = fc.constantFrom('a', 'b', 'a_b', 'é', 'a*')

/** No two siblings have the same name, because the parser refuses those. */
const siblings = (depth: number): fc.Arbitrary<NestedRule[]> =>
  fc.uniqueArray(rule(depth), {
    maxLength: 6,
    selector: (each) => joined(each.key, valueIn(each)),
  })

function rule(depth: number): fc.Arbitrary<NestedRule> {
  return fc
    .record({
      key,
      value: text(3),
      limit: fc.constantFrom({ requests: 1 }, { requests: 1 }, undefined),
      detailedMetric: fc.boolean(),
      valueToMetric: fc.boolean(),
      shareThreshold: fc.boolean(),
      rules: depth === 0 ? fc.constant([]) : siblings(depth - 1),
    })
    .map(({ limit, ...rest }) => (limit === undefined ? rest : { ...rest, limit }))
}

/** A path down the rules, with each value kept, slightly changed, or random. */
const request = fc.array(fc.tuple(key, text(4)), { maxLength: 4 })

function toPathsOf(rules: readonly NestedRule[]): [string, string][][] {
  return rules.flatMap((each) => {
    const value = valueIn(each).replaceAll('*', 'b')
    const here: [string, string] = [each.key, value]
    return [[here], ...toPathsOf(each.rules ?? []).map((below) => [here, ...below])]
  })
}

test('matching agrees with a naive model for any rules and requests', () => {
  let matched = 0
  fc.assert(
    fc.property(siblings(2), fc.array(request, { maxLength: 10 }), (rules, requests) => {
      const counters = new KeyRecorder()
      const snapshot = compileRules(toRuleSet({ d: rules }), counters)
      for (const pairs of [...requests, ...toPathsOf(rules)]) {
        const descriptor = toDescriptor(...pairs.map(([name, value]) => `${name}=${value}`))
        const match = snapshot.match('d', descriptor)
        const actual = match && {
          path: match.limit.path,
          key: counters.keyOf(match.counters),
          shared: match.sharedValues,
        }
        assert.deepEqual(actual, decideNaively(rules, pairs), JSON.stringify({ rules, pairs }))
        const explained = snapshot.explain('d', descriptor).match
        assert.deepEqual(explained?.limit, match && toPlainLimit(match.limit))
        assert.equal(explained?.statisticsKey, actual?.key)
        if (match !== undefined) matched += 1
      }
    }),
    { numRuns: 250 },
  )
  assert.ok(matched > 250, `only ${matched} requests matched a limit: the generator is too random`)
})
