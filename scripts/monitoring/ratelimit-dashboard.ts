import type { DashboardContent, Panel, Question } from './dashboard.ts'
import { toOverview } from './overview.ts'
import { rate, selected } from './queries.ts'

const decisions = `${selected}, grpc_method="ShouldRateLimit"`

const hits = (statistic: string) => rate(`ratelimit_service_rate_limit_${statistic}`)

const within = (le: string) =>
  `sum(${rate('ratelimit_service_response_time_seconds_bucket', `${decisions}, le="${le}"`)}) / sum(${rate('ratelimit_service_response_time_seconds_count', decisions)})`

const latency: Panel = {
  title: 'Time to decide',
  description:
    'The fraction of gRPC calls that are answered within this time. Envoy waits 20 ms by default, so 99 % should be answered within 10 ms.',
  unit: 'percentunit',
  limit: 0.99,
  isBadBelow: true,
  queries: ['0.005', '0.01', '0.025', '0.1'].map((le) => [within(le), `${Number(le) * 1_000} ms`]),
  alerts: ['RatelimitLatencyBudgetBurn', 'RatelimitLatencyBudgetBurnSlow'],
}

const limits: Question = {
  title: 'What is limited?',
  panels: [
    {
      title: 'Hits by result',
      description:
        'Hits within the limit, over the limit, and over the limit but allowed by shadow mode. Hits near the limit are also within it.',
      unit: 'ops',
      ifMissing: 'no hits',
      queries: [
        [`sum(${hits('within_limit')})`, 'within the limit'],
        [`sum(${hits('near_limit')})`, 'near the limit'],
        [`sum(${hits('over_limit')})`, 'over the limit'],
        [`sum(${hits('shadow_mode')})`, 'shadow mode'],
      ],
    },
    {
      title: 'Refused hits by domain',
      description:
        'The fraction of the hits of a domain that are over the limit. If it is more than half, a limit is too low, or a client sends too much.',
      unit: 'percentunit',
      limit: 0.5,
      ifMissing: 'no hits',
      queries: [
        [
          `sum by (domain) (${hits('over_limit')}) / sum by (domain) (${hits('total_hits')})`,
          '{{domain}}',
        ],
      ],
      alerts: ['RatelimitManyRefused'],
    },
    {
      title: 'Rules that refuse most',
      description: 'Hits over the limit per second, for the ten rules that refuse most.',
      unit: 'ops',
      isStacked: true,
      ifMissing: 'no hits',
      queries: [
        [
          `topk(10, sum by (domain, key1, key2) (${hits('over_limit')}))`,
          '{{domain}} {{key1}} {{key2}}',
        ],
      ],
    },
    {
      title: 'Rules near their limit',
      description:
        'Hits above 80 % of the limit (NEAR_LIMIT_RATIO) per second, for the ten rules with the most of them.',
      unit: 'ops',
      isStacked: true,
      ifMissing: 'no hits',
      queries: [
        [
          `topk(10, sum by (domain, key1, key2) (${hits('near_limit')}))`,
          '{{domain}} {{key1}} {{key2}}',
        ],
      ],
    },
    {
      title: 'Hits refused by the local cache',
      description:
        'Hits that the local cache refuses without calling the counter store, and all refused hits. Needs LOCAL_CACHE_SIZE_IN_BYTES.',
      unit: 'ops',
      ifMissing: 'no hits',
      queries: [
        [`sum(${hits('over_limit_with_local_cache')})`, 'local cache'],
        [`sum(${hits('over_limit')})`, 'all'],
      ],
    },
    {
      title: 'Calls allowed by global shadow mode',
      description:
        'Calls that would have been refused without SHADOW_MODE. While it is set, nothing is limited.',
      unit: 'reqps',
      queries: [[`sum(${rate('ratelimit_service_global_shadow_mode')})`, 'allowed']],
    },
  ],
}

const failures: Question = {
  title: 'What fails, and why?',
  panels: [
    {
      title: 'Failed calls by cause',
      description:
        'redis_error: the counter store failed, whatever its type. service_error: the request was invalid, or there are no rules.',
      unit: 'reqps',
      isStacked: true,
      queries: [
        [
          `sum by (err_type) (${rate('ratelimit_service_should_rate_limit_error')})`,
          '{{err_type}}',
        ],
      ],
      alerts: ['RatelimitErrorBudgetBurn', 'RatelimitErrorBudgetBurnSlow', 'RatelimitStoreFailing'],
    },
    {
      title: 'Loads of rules',
      description:
        'How often loading the rules has succeeded and failed since the start. After a failure the previous rules stay in force. Before the first success every call fails.',
      unit: 'none',
      queries: [
        [`ratelimit_service_config_load_success{${selected}}`, 'succeeded {{instance}}'],
        [`ratelimit_service_config_load_error{${selected}}`, 'failed {{instance}}'],
      ],
      alerts: ['RatelimitNoRules', 'RatelimitRulesRejected'],
    },
    {
      title: 'Domains without rules',
      description:
        'Descriptors per second with a domain that no rule file defines. They are not limited.',
      unit: 'ops',
      ifMissing: 'none',
      queries: [
        [
          `sum by (domain) (${rate('ratelimit_service_rate_limit_domain_not_found')})`,
          '{{domain}}',
        ],
      ],
      alerts: ['RatelimitUnknownDomain'],
    },
  ],
}

const store: Question = {
  title: 'Is the counter store the cause?',
  panels: [
    {
      title: 'Redis: connections',
      description: 'Open connections. At 0 every call fails.',
      unit: 'none',
      limit: 1,
      isBadBelow: true,
      ifMissing: 'no Redis',
      queries: [
        [`ratelimit_redis_pool_cx_active{${selected}}`, '{{instance}}'],
        [`ratelimit_redis_per_second_pool_cx_active{${selected}}`, 'per second {{instance}}'],
      ],
      alerts: ['RatelimitStoreDisconnected', 'RatelimitStoreFailing'],
    },
    {
      title: 'Redis: connections opened and closed',
      description:
        'Connections that the service opened and closed. If it continuously opens new ones, Redis or the network closes connections.',
      unit: 'ops',
      ifMissing: 'no Redis',
      queries: [
        [`sum(${rate('ratelimit_redis_pool_cx_total')})`, 'opened'],
        [`sum(${rate('ratelimit_redis_pool_cx_local_close')})`, 'closed'],
        [`sum(${rate('ratelimit_redis_per_second_pool_cx_total')})`, 'opened, per second'],
        [`sum(${rate('ratelimit_redis_per_second_pool_cx_local_close')})`, 'closed, per second'],
      ],
    },
    {
      title: 'Memcached: commands by result',
      description: 'Commands to memcached. Errors mean that it cannot be reached or is overloaded.',
      unit: 'ops',
      ifMissing: 'no memcached',
      queries: [
        [`sum by (code) (${rate('ratelimit_memcache_multiget')})`, 'get {{code}}'],
        [`sum by (code) (${rate('ratelimit_memcache_increment')})`, 'increment {{code}}'],
        [`sum by (code) (${rate('ratelimit_memcache_add')})`, 'add {{code}}'],
      ],
    },
    {
      title: 'Memory store: size',
      description:
        'Bytes of the counters in memory. The limit is MEMORY_STORE_MAX_BYTES, 1 GiB by default.',
      unit: 'bytes',
      ifMissing: 'no memory store',
      queries: [[`ratelimit_memory_store_bytes{${selected}}`, '{{instance}}']],
      alerts: ['RatelimitMemoryStoreEvicting'],
    },
    {
      title: 'Memory store: counters',
      description:
        'Counters in memory, and how many were removed since the start because the store was full.',
      unit: 'none',
      ifMissing: 'no memory store',
      queries: [
        [`ratelimit_memory_store_counters{${selected}}`, 'counters {{instance}}'],
        [`ratelimit_memory_store_evicted{${selected}}`, 'removed {{instance}}'],
      ],
      alerts: ['RatelimitMemoryStoreEvicting'],
    },
    {
      title: 'Local cache: hits',
      description:
        'The fraction of lookups that the local cache answers without calling the counter store.',
      unit: 'percentunit',
      ifMissing: 'no local cache',
      queries: [
        [
          `sum by (instance) (${rate('ratelimit_localcache_hitCount')}) / sum by (instance) (${rate('ratelimit_localcache_lookupCount')})`,
          '{{instance}}',
        ],
      ],
    },
  ],
}

const saturation: Question = {
  title: 'Is it saturated?',
  panels: [
    {
      title: 'Event loop utilization',
      description:
        'The fraction of time in which the event loop of the busiest process of a service is busy. Above 0.9, calls wait.',
      unit: 'percentunit',
      limit: 0.9,
      queries: [[`ratelimit_node_eventloop_utilization{${selected}}`, '{{instance}}']],
      alerts: ['RatelimitEventLoopSaturated'],
    },
    {
      title: 'Memory',
      description:
        'Resident memory, the heap in use, and the heap size at which Node ends a process. Each is the sum over all processes.',
      unit: 'bytes',
      queries: [
        [`ratelimit_node_memory_rss{${selected}}`, 'resident {{instance}}'],
        [`ratelimit_node_memory_heap_used{${selected}}`, 'heap {{instance}}'],
        [`ratelimit_node_memory_heap_limit{${selected}}`, 'heap limit {{instance}}'],
      ],
      alerts: ['RatelimitMemoryHigh'],
    },
    {
      title: 'Calls per server',
      description:
        'gRPC calls by server. If the servers get very different numbers of calls, callers open too few connections or keep them too long; see GRPC_MAX_CONNECTION_AGE.',
      unit: 'reqps',
      isStacked: true,
      queries: [
        [
          `sum by (instance) (${rate('ratelimit_service_total_requests', decisions)})`,
          '{{instance}}',
        ],
      ],
    },
    {
      title: 'Uptime',
      description:
        'Time since the start of each service. If it drops to 0 repeatedly, the service restarts again and again.',
      unit: 's',
      queries: [[`ratelimit_node_uptime_seconds{${selected}}`, '{{instance}}']],
      alerts: ['RatelimitRestarting'],
    },
  ],
}

export const ratelimitDashboard: DashboardContent = {
  server: 'ratelimit',
  title: 'Portcullis: rate limit service',
  description:
    'Each row answers a question. Start at the top, and follow the links of a panel to its runbook.',
  ownMetric: 'ratelimit_node_uptime_seconds',
  alertPrefix: 'Ratelimit',
  questions: [
    toOverview(
      {
        alertPrefix: 'Ratelimit',
        ...{ total: 'ratelimit_decisions', errors: 'ratelimit_errors', slow: 'ratelimit_slow' },
        ...{ errorBudget: 0.0005, slowBudget: 0.01, slowLimit: '10 ms', noun: 'calls' },
      },
      latency,
    ),
    ...[limits, failures, store, saturation],
  ],
}
