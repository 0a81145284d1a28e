import type { StatisticType } from '@portcullis/service-kit/metrics/lines/line-format'
import { toMetricName } from '@portcullis/service-kit/metrics/prometheus/text'
import { rulePrefix, toUnknownDomainName } from '../../registry.ts'
import { ruleStatistics } from '../../rule-statistics.ts'
import { expandTemplate, isTooDeepForPatterns } from '../mogrify.ts'
import { defaultBuckets, type Mapped, type Mapping } from './mapping.ts'

/** Like statsd_exporter, tries all globs first and then regular expressions, each in the order of the file. */
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
      const captures = matchName(rule.pattern, name)
      if (captures !== undefined) return { rule, captures }
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
    const { rule, captures } = found
    if (rule.isDropped) return undefined
    const metric = toMetricName(expandTemplate(rule.name, captures))
    return {
      name: metric,
      help: rule.help ?? metric,
      labels: rule.labels.map(([label, value]) => [label, expandTemplate(value, captures)]),
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
  /** Undefined if the entry applies to all types. */
  readonly type: StatisticType | undefined
  readonly isDropped: boolean
  /** The metric name, in which `$1`… stand for the captures of the pattern. */
  readonly name: string
  /** The labels, whose values may contain `$1`… too. */
  readonly labels: readonly (readonly [string, string])[]
  readonly help: string | undefined
  readonly buckets: readonly number[]
  readonly scale: number | undefined
  readonly honorsTags: boolean
}

export type NamePattern =
  | { readonly kind: 'regex'; readonly expression: RegExp }
  /** `*` matches one whole part between dots. */
  | { readonly kind: 'glob'; readonly parts: readonly string[] }

/** Returns the captures, with the whole name first; undefined if the pattern does not match. */
function matchName(pattern: NamePattern, name: string): readonly string[] | undefined {
  if (pattern.kind === 'regex') return pattern.expression.exec(name) ?? undefined
  const parts = name.split('.')
  if (parts.length !== pattern.parts.length) return undefined
  const captures = [name]
  for (const [i, wanted] of pattern.parts.entries()) {
    const part = parts[i] ?? ''
    if (wanted === '*') captures.push(part)
    else if (wanted !== part) return undefined
  }
  return captures
}
