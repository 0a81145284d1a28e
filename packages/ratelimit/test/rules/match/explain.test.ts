import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compileRules } from '../../../src/rules/match/snapshot.ts'
import {
  KeyRecorder,
  type NestedRule,
  toDescriptor,
  toRuleSet,
} from '../../support/nested-rules.ts'

const limit = { requests: 5 }

const rules: readonly NestedRule[] = [
  {
    key: 'kind',
    value: 'mail',
    rules: [
      { key: 'to', limit },
      { key: 'from', value: 'me', limit },
    ],
  },
  { key: 'kind', rules: [{ key: 'size', limit }] },
  { key: 'path', value: '/a/*', limit },
  { key: 'path', value: '/b/*', shareThreshold: true, limit },
  { key: 'free' },
  { key: 'all', limit: { unlimited: true } },
]

const explain = (...pairs: string[]) =>
  compileRules(toRuleSet({ shop: rules, empty: [] }), new KeyRecorder()).explain(
    'shop',
    toDescriptor(...pairs),
  )

suite('an explanation', () => {
  test('shows for each level what was tried, and which rule was found where', () => {
    const { outcome, levels, match, nearMisses } = explain('kind=mail', 'to=you')
    assert.equal(outcome, 'limited')
    assert.deepEqual(levels, [
      {
        key: 'kind',
        value: 'mail',
        attempts: [
          { step: 'exact value', isMatch: true, reason: "the rule names the value 'mail'" },
        ],
        rule: { path: 'shop.kind_mail', place: { file: 'rules.yaml', line: 1, column: 5 } },
      },
      {
        key: 'to',
        value: 'you',
        attempts: [
          { step: 'exact value', isMatch: false, reason: "no rule 'to_you'" },
          { step: 'key alone', isMatch: true, reason: 'a rule without a value' },
        ],
        rule: { path: 'shop.kind_mail.to', place: { file: 'rules.yaml', line: 2, column: 5 } },
      },
    ])
    assert.equal(match?.statisticsKey, 'shop.kind_mail.to')
    assert.deepEqual(nearMisses, [])
  })

  test('shows the pattern that matched and the earlier ones that did not', () => {
    const { levels, match } = explain('path=/b/c')
    assert.deepEqual(levels[0]?.attempts.at(-1), {
      step: 'wildcard',
      isMatch: true,
      reason: "the pattern '/b/*' matches; earlier ones do not: '/a/*'",
    })
    assert.deepEqual(match?.sharedValues, ['/b/*'])
    const none = explain('path=/c')
    assert.equal(none.outcome, 'no rule')
    assert.deepEqual(
      none.levels[0]?.attempts.map(({ step }) => step),
      ['exact value', 'wildcard', 'key alone'],
    )
  })

  test('distinguishes the outcomes', () => {
    assert.equal(explain('all=1').outcome, 'unlimited')
    assert.equal(explain('free=1').outcome, 'whitelisted')
    assert.equal(explain('kind=mail').outcome, 'placeholder')
    assert.equal(explain('nothing=1').outcome, 'no rule')
    const sent = { ...toDescriptor('x=1'), limit: { requestsPerUnit: 3, unit: 2 } }
    const snapshot = compileRules(toRuleSet({ shop: rules }), new KeyRecorder())
    const override = snapshot.explain('shop', sent)
    assert.equal(override.outcome, 'limited by the request')
    assert.equal(override.match?.statisticsKey, 'shop.x_1')
  })

  const misses: readonly [what: string, pairs: string[], hint: RegExp][] = [
    ['a descriptor that is too short', ['kind=mail'], /send one more entry.*'to', 'from_me'/],
    [
      'a descriptor that is too long',
      ['path=/a/1', 'x=1'],
      /limits descriptors with 1 entry, and this one has 2/,
    ],
    ['another case of a key', ['Path=/a/1'], /'path': keys are case-sensitive/],
    ['another case of a value', ['kind=mail', 'from=ME'], /'from_me': values are case-sensitive/],
    ['other values of the key', ['kind=mail', 'from=you'], /'from' have the values 'me'/],
    ['other keys of the level', ['kind=mail', 'x=1'], /below 'shop.kind_mail' are 'to', 'from'/],
    ['another order of the entries', ['to=1', 'kind=mail'], /order kind, to .*'shop.kind_mail.to'/],
    [
      'a rule that only backtracking would find',
      ['kind=mail', 'size=1'],
      /'shop.kind.size' would match, but/,
    ],
    ['a key at another level', ['size=1'], /'size' is used elsewhere: 'shop.kind.size'/],
    ['no entries', [], /without entries/],
  ]
  for (const [what, pairs, hint] of misses) {
    test(`suggests ${what}`, () => {
      const { nearMisses } = explain(...pairs)
      assert.ok(
        nearMisses.some((miss) => hint.test(miss)),
        nearMisses.join('\n'),
      )
    })
  }

  test('lists the known domains', () => {
    const snapshot = compileRules(toRuleSet({ shop: rules, empty: [] }), new KeyRecorder())
    const { outcome, nearMisses } = snapshot.explain('store', toDescriptor('a=1'))
    assert.equal(outcome, 'unknown domain')
    assert.deepEqual(nearMisses, ["the domains are 'shop', 'empty'"])
    assert.match(snapshot.explain('SHOP', toDescriptor('a=1')).nearMisses[0] ?? '', /'shop'.*case/)
    const none = compileRules(toRuleSet({}), new KeyRecorder())
    assert.match(none.explain('a', toDescriptor('a=1')).nearMisses[0] ?? '', /no domain/)
  })

  test('shows only a few of many keys', () => {
    const many = Array.from({ length: 1_000 }, (_, i) => ({ key: 'k', value: `v${i}`, limit }))
    const snapshot = compileRules(toRuleSet({ d: many }), new KeyRecorder())
    const { nearMisses } = snapshot.explain('d', toDescriptor('k=x'))
    assert.match(nearMisses.join('\n'), /'v0', 'v1', 'v2', 'v3', 'v4' and 995 more/)
  })

  test('can be written as JSON', () => {
    const explanation = explain('path=/b/c')
    assert.deepEqual(JSON.parse(JSON.stringify(explanation)).levels, explanation.levels)
  })
})
