// Random rule files that envoyproxy/ratelimit accepts, and random requests that match them.
//
// Intentional differences between the services are excluded: keys have no underscore, a star is only at
// the end of a value, an override always has a unit, there are no refunds, and no rule is in quota mode,
// whose meaning changes between versions of the peer. The other differences depend on settings; see
// variants.ts.

import type { JsonObject } from '@bufbuild/protobuf'
import fc from 'fast-check'
import { stringify } from 'yaml'

export interface RuleTree {
  readonly key: string
  readonly value?: string
  readonly rate_limit?: object
  readonly shadow_mode?: boolean
  readonly detailed_metric?: boolean
  readonly value_to_metric?: boolean
  readonly share_threshold?: boolean
  readonly descriptors?: readonly RuleTree[]
}

/** A request in the JSON format of the protocol without its domain, which every run chooses. */
export type RequestDraft = JsonObject

export interface Scenario {
  readonly rules: readonly RuleTree[]
  readonly requests: readonly RequestDraft[]
}

export interface ScenarioLimits {
  readonly hasShadowMode: boolean
  readonly hasOverrides: boolean
}

const keys = ['color', 'size', 'user'] as const
const ruleValues = ['', 'a', 'ab', 'b', 'b_c', 'é', '10.0.0.1', '*', 'a*', 'ab*', 'b_*'] as const
const requestValues = [...ruleValues, 'abc', 'abd', 'b_cd', 'éa', 'x y'] as const
const names = ['one', 'two', 'three'] as const
const units = ['second', 'minute', 'hour', 'day', 'week', 'month', 'year', 'MINUTE'] as const

const flag = fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, fc.boolean(), fc.boolean())
const smallCount = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 6 }) },
  fc.constant(4_294_967_295),
)

const limited = fc.record(
  {
    unit: fc.constantFrom(...units),
    requests_per_unit: smallCount,
    name: fc.constantFrom(...names),
    replaces: fc.array(fc.record({ name: fc.constantFrom(...names) }), { maxLength: 2 }),
  },
  { requiredKeys: ['unit', 'requests_per_unit'] },
)
const unlimited = fc.record(
  { unlimited: fc.constant(true), name: fc.constantFrom(...names) },
  { requiredKeys: ['unlimited'] },
)
const rateLimit = fc
  .oneof({ weight: 8, arbitrary: limited }, { weight: 1, arbitrary: unlimited })
  // A limit that replaces itself is refused.
  .filter(
    (limit) => !('replaces' in limit) || !limit.replaces?.some(({ name }) => name === limit.name),
  )

function rules({ hasShadowMode }: ScenarioLimits): fc.Arbitrary<readonly RuleTree[]> {
  const { list } = fc.letrec<{ rule: RuleTree; list: readonly RuleTree[] }>((tie) => ({
    rule: fc
      .record({
        key: fc.constantFrom(...keys),
        value: fc.constantFrom(...ruleValues),
        rate_limit: fc.option(rateLimit, { nil: undefined, freq: 4 }),
        shadow_mode: hasShadowMode ? flag : fc.constant(undefined),
        detailed_metric: flag,
        value_to_metric: flag,
        share_threshold: flag,
        descriptors: fc.option(tie('list'), { nil: undefined, depthSize: 'small', maxDepth: 2 }),
      })
      .map(toRule),
    list: fc.uniqueArray(tie('rule'), {
      minLength: 1,
      maxLength: 5,
      selector: ({ key, value = '' }) => `${key} ${value}`,
      depthIdentifier: 'rules',
    }),
  }))
  return list
}

/** Omits fields that are not set, and share_threshold if there is no pattern. */
function toRule({ value, share_threshold, ...rest }: Draft): RuleTree {
  const rule: Draft = {
    ...rest,
    ...(value !== '' && { value }),
    ...(value?.endsWith('*') && { share_threshold }),
  }
  return Object.fromEntries(
    Object.entries(rule).filter(([, content]) => content !== undefined),
  ) as unknown as RuleTree
}

type Draft = { [Name in keyof RuleTree]: RuleTree[Name] | undefined } & { readonly key: string }

/** Literal entries, or steps down the rules: numbers that each select a rule and a value. */
type EntriesSeed = readonly { readonly key: string; readonly value: string }[] | readonly number[]

function toEntries(rules: readonly RuleTree[], seed: EntriesSeed): JsonObject[] {
  let level = rules
  return seed.map((step) => {
    if (typeof step !== 'number') return { ...step }
    const rule = level[step % level.length]
    level = rule?.descriptors ?? []
    return { key: rule?.key ?? pick(keys, step), value: toValue(rule?.value ?? '', step) }
  })
}

/** A value that the rule matches. */
function toValue(ruleValue: string, step: number): string {
  if (ruleValue === '') return pick(requestValues, step)
  return ruleValue.endsWith('*') ? `${ruleValue.slice(0, -1)}${step % 3}` : ruleValue
}

const pick = (list: readonly string[], step: number) => list[step % list.length] ?? ''

const entriesSeed: fc.Arbitrary<EntriesSeed> = fc.oneof(
  { weight: 5, arbitrary: fc.array(fc.nat(), { minLength: 1, maxLength: 3 }) },
  {
    weight: 1,
    arbitrary: fc.array(
      fc.record({
        key: fc.constantFrom(...keys, 'unknown'),
        value: fc.constantFrom(...requestValues),
      }),
      { maxLength: 3 },
    ),
  },
)

function requestSeeds({ hasOverrides }: ScenarioLimits) {
  const override = fc.record({
    requestsPerUnit: fc.integer({ min: 0, max: 8 }),
    unit: fc.integer({ min: 1, max: 7 }),
  })
  const descriptor = fc.record({
    entries: entriesSeed,
    hitsAddend: fc.option(fc.integer({ min: 0, max: 5 }), { freq: 1 }),
    // Absent in most requests, so that the limits of rules apply.
    limit: hasOverrides
      ? fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, override)
      : fc.constant(null),
  })
  const request = fc.record({
    descriptors: fc.oneof(
      { weight: 15, arbitrary: fc.array(descriptor, { minLength: 1, maxLength: 4 }) },
      { weight: 1, arbitrary: fc.array(descriptor, { maxLength: 0 }) },
    ),
    hitsAddend: fc.option(fc.integer({ min: 0, max: 3 }), { freq: 1 }),
    // Requests are repeated so that counters reach their limits.
    times: fc.integer({ min: 1, max: 5 }),
  })
  return fc.array(request, { minLength: 1, maxLength: 5 })
}

export function scenarios(limits: ScenarioLimits): fc.Arbitrary<Scenario> {
  return fc
    .record({ rules: rules(limits), seeds: requestSeeds(limits) })
    .map(({ rules, seeds }) => ({
      rules,
      requests: seeds.flatMap(({ descriptors, hitsAddend, times }) =>
        Array<RequestDraft>(times).fill({
          descriptors: descriptors.map(({ entries, ...rest }) => ({
            entries: toEntries(rules, entries),
            ...rest,
          })),
          hitsAddend,
        }),
      ),
    }))
}

/** A rule file. The marker is a separate rule that shows when the file is loaded. */
export function toYaml(domain: string, marker: string, tree: readonly RuleTree[]): string {
  const loaded = {
    key: 'loaded',
    value: marker,
    rate_limit: { unit: 'day', requests_per_unit: 1000 },
  }
  return stringify({ domain, descriptors: [...tree, loaded] }, { version: '1.1' })
}
