import type { TestContext } from 'node:test'
import {
  type RunningService,
  type ServiceOptions,
  startService,
} from '../../support/service-process.ts'
import type { Collector } from './collector.ts'

export const rules = `
domain: shop
descriptors:
  - key: user
    rate_limit: { unit: hour, requests_per_unit: 1000 }
  - key: burst
    rate_limit: { unit: second, requests_per_unit: 1000 }
`

/** A service that sends its spans to the collector without a long delay. */
export function startTraced(
  t: Pick<TestContext, 'after'>,
  collector: Pick<Collector, 'endpoint'>,
  env: ServiceOptions['env'] = {},
): Promise<RunningService> {
  return startService(t, { rules, env: toTracedEnvironment(collector, env) })
}

export function toTracedEnvironment(
  { endpoint }: Pick<Collector, 'endpoint'>,
  env: ServiceOptions['env'],
): Record<string, string> {
  return {
    TRACING_ENABLED: 'true',
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_BSP_SCHEDULE_DELAY: '20',
    ...env,
  }
}

export function createRequest(value: string, ...keys: readonly string[]) {
  return {
    domain: 'shop',
    descriptors: keys.map((key) => ({
      entries: [{ key, value }],
      limit: undefined,
      hitsAddend: undefined,
      isNegativeHits: false,
    })),
    hitsAddend: 0,
  }
}

/** The name of the span of a gRPC call. */
export const serverSpan = 'envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'

export const traceId = '0af7651916cd43dd8448eb211c80319c'
export const spanId = 'b7ad6b7169203331'
