import fc, { type Arbitrary } from 'fast-check'
import { algorithms, unitByName, units } from '../../../src/rules/model/rule.ts'

/** Values that are valid in some places and invalid in most. */
const odd = fc.constantFrom<unknown>(
  ...[null, true, false, 0, 1, 7, 11, -1, 1.5, 4294967296, '', 'x', 'a*', 'DAY', 'fortnight'],
  ...['sliding_window', [], {}, ['x'], [{}], [{ key: 'x' }], { key: 'x' }, { unlimited: true }],
)

const text = fc.oneof(
  fc.constantFrom<unknown>('a', 'b', 'c', 'a*', '*', 'é', 'yes', '1.5', ' ', '"', '#', 7, true),
  fc.string({ minLength: 1, maxLength: 3 }),
)
const flag = fc.boolean()

/** Sometimes a value of another kind. */
function mostly(good: Arbitrary<unknown>): Arbitrary<unknown> {
  return fc.oneof({ weight: 40, arbitrary: good }, { weight: 1, arbitrary: odd })
}

/** Fields by name; optional fields have a weight. */
function fields(
  given: Readonly<Record<string, Arbitrary<unknown>>>,
  rare: Readonly<Record<string, Arbitrary<unknown>>>,
): Arbitrary<unknown> {
  const parts: [string, Arbitrary<unknown>][] = [
    ...Object.entries(given).map(([name, good]): [string, Arbitrary<unknown>] => [
      name,
      fc.oneof({ weight: 50, arbitrary: mostly(good) }, { weight: 1, arbitrary: absent }),
    ]),
    ...Object.entries(rare).map(([name, good]): [string, Arbitrary<unknown>] => [
      name,
      fc.oneof({ weight: 1, arbitrary: mostly(good) }, { weight: 3, arbitrary: absent }),
    ]),
  ]
  return fc
    .tuple(fc.record(Object.fromEntries(parts)), stray)
    .map(([record, extra]) => ({ ...JSON.parse(JSON.stringify(record)), ...extra }))
}

const absent = fc.constant(undefined)

/** A field in the wrong place, or an unknown field. */
const stray = fc.oneof(
  { weight: 60, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('unit', 'key', 'domain', 'name', 'replaces', 'burst', 'Key'), odd)
      .map(([name, value]) => ({ [name]: value })),
  },
)

const unit = fc
  .constantFrom(...units)
  .chain(({ name }) =>
    fc.constantFrom(name, name.toLowerCase(), `${name[0]}${name.slice(1).toLowerCase()}`),
  )

const windowed = fields(
  { unit, requests_per_unit: fc.constantFrom(0, 1, 5, 4294967295) },
  {
    unit_multiplier: fc.constantFrom(1, 2, 10),
    algorithm: fc.constantFrom(...algorithms),
    unlimited: fc.constant(false),
    name: text,
    replaces: fc.array(fields({ name: text }, {}), { maxLength: 2 }),
  },
)

const unlimited = fields(
  { unlimited: fc.constant(true) },
  { name: text, requests_per_unit: fc.nat(), unit_multiplier: fc.constant(null) },
)

const plainRule = (descriptors: Arbitrary<unknown>) =>
  fields(
    { key: text },
    {
      value: text,
      rate_limit: fc.oneof(windowed, windowed, unlimited),
      shadow_mode: flag,
      quota_mode: flag,
      detailed_metric: flag,
      value_to_metric: flag,
      metadata: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
      descriptors,
    },
  )

const sharedRule = fields(
  { key: text, value: fc.constantFrom('a*', '*', 'x/*'), share_threshold: fc.constant(true) },
  { rate_limit: windowed },
)

const { rules } = fc.letrec((tie) => ({
  rules: fc.array(
    fc.oneof({ maxDepth: 2 }, sharedRule, plainRule(fc.constant([])), plainRule(tie('rules'))),
    { maxLength: 3 },
  ),
}))

/** Rule files as data: about half of them without a fault. */
export const anyRuleFile = mostly(fields({ domain: text, descriptors: rules }, {}))

/** An unlimited rule with an unknown unit: the parser accepts it, the schema does not. */
export function hasUnlimitedWithUnknownUnit(data: unknown): boolean {
  return listOf(data, 'descriptors').some((rule) => {
    const limit = fieldOf(rule, 'rate_limit')
    const written = fieldOf(limit, 'unit')
    const isOdd =
      fieldOf(limit, 'unlimited') === true &&
      written !== undefined &&
      written !== null &&
      unitByName(String(written)) === undefined
    return isOdd || hasUnlimitedWithUnknownUnit(rule)
  })
}

function listOf(data: unknown, name: string): readonly unknown[] {
  const value = fieldOf(data, name)
  return Array.isArray(value) ? value : []
}

function fieldOf(data: unknown, name: string): unknown {
  return typeof data === 'object' && data !== null ? Reflect.get(data, name) : undefined
}
