import type { StatisticType } from '@portcullis/service-kit/metrics/lines/line-format'
import { toMetricName } from '@portcullis/service-kit/metrics/prometheus/text'
import { rulePrefix, toUnknownDomainName } from '../../registry.ts'
import { ruleStatistics } from '../../rule-statistics.ts'
import { expandTemplate, isTooDeepForPatterns } from '../mogrify.ts'
import { defaultBuckets, type Mapped, type Mapping } from './mapping.ts'

/** As statsd_exporter does it: all globs first, then regular expressions, each in their order. */
export function createFileMapping(
  rules: readonly MapperRule[],
  { usesMilliseconds }: { readonly usesMilliseconds: boolean },
): Mapping {
  const globs = rules.filter(({ pattern }) => pattern.kind === 'glob')
  const regexes = rules.filter(({ pattern }) => pattern.kind === 'regex')
  const scale = usesMilliseconds ? 1 : 0.001

  const find = (candidates: readonly MapperRule[], name: string, type: StatisticType) => {
    for (const rule of candidates) {
      if (rule.type !== undefined && rule.type !== type) continue
      const caught = matchName(rule.pattern, name)
      if (caught !== undefined) return { rule, caught }
    }
    return undefined
  }
  const named = (name: string, type: StatisticType): Mapped | undefined => {
    const found =
      find(globs, name, type) ??
      (isTooDeepForPatterns(name) ? undefined : find(regexes, name, type))
    if (found === undefined) {
      const histogram = { buckets: defaultBuckets, scale }
      return { name: toMetricName(name), help: name, labels: [], histogram }
    }
    const { rule, caught } = found
    if (rule.isDropped) return undefined
    const metric = toMetricName(expandTemplate(rule.name, caught))
    return {
      name: metric,
      help: rule.help ?? metric,
      labels: rule.labels.map(([label, value]) => [label, expandTemplate(value, caught)]),
      honorsTags: rule.honorsTags,
      histogram: { buckets: rule.buckets, scale: rule.scale ?? scale },
    }
  }
  return {
    named,
    rules: {
      kind: 'separate',
      map: (key) =>
        ruleStatistics.map(([statistic]) => named(`${rulePrefix}${key}.${statistic}`, 'counter')),
    },
    unknownDomain: (domain) => {
      const mapped = named(toUnknownDomainName(domain), 'counter')
      return mapped === undefined ? [] : [mapped]
    },
  }
}

/** One entry of a mapping file. */
export interface MapperRule {
  readonly pattern: NamePattern
  /** Undefined for all of them. */
  readonly type: StatisticType | undefined
  readonly isDropped: boolean
  /** With `$1`… for what the pattern caught. */
  readonly name: string
  /** The values with `$1`… as well. */
  readonly labels: readonly (readonly [string, string])[]
  readonly help: string | undefined
  readonly buckets: readonly number[]
  readonly scale: number | undefined
  readonly honorsTags: boolean
}

export type NamePattern =
  | { readonly kind: 'regex'; readonly expression: RegExp }
  /** `*` stands for one whole part. */
  | { readonly kind: 'glob'; readonly parts: readonly string[] }

/** What the pattern caught, the whole name first; undefined when it does not match. */
function matchName(pattern: NamePattern, name: string): readonly string[] | undefined {
  if (pattern.kind === 'regex') return pattern.expression.exec(name) ?? undefined
  const parts = name.split('.')
  if (parts.length !== pattern.parts.length) return undefined
  const caught = [name]
  for (const [i, wanted] of pattern.parts.entries()) {
    const part = parts[i] ?? ''
    if (wanted === '*') caught.push(part)
    else if (wanted !== part) return undefined
  }
  return caught
}
