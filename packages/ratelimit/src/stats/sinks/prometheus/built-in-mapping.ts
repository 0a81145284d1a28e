import type { StatisticType } from '@portcullis/service-kit/metrics/lines/line-format'
import { type Labels, toMetricName } from '@portcullis/service-kit/metrics/prometheus/text'
import { rulePrefix } from '../../registry.ts'
import { ruleStatistics } from '../../rule-statistics.ts'
import { defaultBuckets, type Mapped, type Mapping } from './mapping.ts'

interface BuiltInSettings {
  readonly usesMilliseconds: boolean
  readonly hasDomain: (domain: string) => boolean
}

interface NamedPattern {
  readonly pattern: RegExp
  readonly type: StatisticType
  readonly name: string
  readonly label: string
  readonly help: string
}

/** The names of envoyproxy/ratelimit. The group of the pattern is the value of the label. */
const patterns: readonly NamedPattern[] = [
  {
    pattern: /^ratelimit\.service\.call\.should_rate_limit\.([^.]+)$/,
    type: 'counter',
    name: 'ratelimit_service_should_rate_limit_error',
    label: 'err_type',
    help: 'Decisions that failed',
  },
  {
    pattern: /^ratelimit_server\.([^.]+)\.total_requests$/,
    type: 'counter',
    name: 'ratelimit_service_total_requests',
    label: 'grpc_method',
    help: 'Calls received',
  },
  {
    pattern: /^ratelimit_server\.([^.]+)\.response_time$/,
    type: 'timer',
    name: 'ratelimit_service_response_time_seconds',
    label: 'grpc_method',
    help: 'Time taken by calls',
  },
]

const ruleHelp: Readonly<Record<(typeof ruleStatistics)[number][0], string>> = {
  near_limit: 'Hits over the near limit ratio but not over the limit',
  over_limit: 'Hits over the limit',
  over_limit_with_local_cache: 'Hits that the local cache knew to be over the limit',
  shadow_mode: 'Hits over the limit that shadow mode allowed',
  total_hits: 'All hits',
  within_limit: 'Hits within the limit',
}

const localCacheName = 'over_limit_with_local_cache'
const localCacheStatistic = ruleStatistics.findIndex(([name]) => name === localCacheName)

/**
 * Names a statistic that the mapping of envoyproxy/ratelimit does not cover, so that its key is part of its
 * name. Dashboards for envoyproxy/ratelimit use that name.
 */
function toPlain(key: string): Mapped {
  const name = `${rulePrefix}${key}`
  return { name: toMetricName(name), help: name, labels: [] }
}

export function createBuiltInMapping({ usesMilliseconds, hasDomain }: BuiltInSettings): Mapping {
  const histogram = { buckets: defaultBuckets, scale: usesMilliseconds ? 1 : 0.001 }
  return {
    named(name, type): Mapped {
      for (const each of patterns) {
        const value = each.type === type ? each.pattern.exec(name)?.[1] : undefined
        if (value === undefined) continue
        return { name: each.name, help: each.help, labels: [[each.label, value]], histogram }
      }
      return { name: toMetricName(name), help: name, labels: [], histogram }
    },
    rules: {
      kind: 'shared',
      columns: ruleStatistics.map(([statistic]) => ({
        name: `ratelimit_service_rate_limit_${statistic}`,
        help: ruleHelp[statistic],
      })),
      toLabels: (key) => toRuleLabels(key, hasDomain),
      besides: { [localCacheStatistic]: (key) => toPlain(`${key}.${localCacheName}`) },
    },
    unknownDomain: (domain) => [
      {
        name: 'ratelimit_service_rate_limit_domain_not_found',
        help: 'Descriptors of a domain that has no rules',
        labels: [['domain', domain]],
      },
      toPlain(`${domain}.domain_not_found`),
    ],
  }
}

/** Levels below the second one are summed, because they would create too many series. */
function toRuleLabels(key: string, hasDomain: (domain: string) => boolean): Labels {
  const domain = findDomain(key, hasDomain)
  const [key1 = '', key2] = key.slice(domain.length + 1).split('.', 2)
  const labels: [string, string][] = [
    ['domain', domain],
    ['key1', key1],
  ]
  if (key2 !== undefined) labels.push(['key2', key2])
  return labels
}

/** Finds the longest domain of the rules that the key begins with; otherwise the text before the first dot. */
function findDomain(key: string, hasDomain: (domain: string) => boolean): string {
  for (let dot = key.lastIndexOf('.'); dot > 0; dot = key.lastIndexOf('.', dot - 1)) {
    const domain = key.slice(0, dot)
    if (hasDomain(domain)) return domain
  }
  const first = key.indexOf('.')
  return first === -1 ? key : key.slice(0, first)
}
