import type { Log } from '@portcullis/service-kit/log/log'
import { hideCredentials } from '@portcullis/service-kit/settings/env'
import type { LimitsConfig } from '../../config/limits/limits.ts'
import type { LimitServiceAddress } from '../../config/limits/service-address.ts'
import type { LimitTable, RequestLimits } from '../request-limits.ts'
import type { LimitService } from './limit-service.ts'
import { openSharedLimits } from './shared-limits.ts'

export interface RequestLimitsSettings {
  readonly config: LimitsConfig
  readonly limits: LimitTable
  /** The limits that this process counts itself. */
  readonly own: RequestLimits
  readonly log: Log
  readonly now: () => number
}

type Openers = {
  readonly [Kind in LimitServiceAddress['kind']]: (
    service: Extract<LimitServiceAddress, { kind: Kind }>,
    settings: RequestLimitsSettings,
  ) => Promise<LimitService>
}

/** Loaded on demand, because most installations count in the process. */
const openers: Openers = {
  async redis(service) {
    const { openRedisLimits } = await import('./redis-limits.ts')
    return openRedisLimits(service)
  },
  async grpc(service, { config: { serviceTimeoutMs: timeoutMs }, now }) {
    const { openGrpcLimits } = await import('./grpc-limits.ts')
    return openGrpcLimits({ service, timeoutMs, now })
  },
}

/** Opens the limits of this process, or those that it shares with others. */
export async function openRequestLimits(
  settings: RequestLimitsSettings,
): Promise<RequestLimits & AsyncDisposable> {
  const { config, limits, own, log } = settings
  if (config.service === undefined) return { ...own, [Symbol.asyncDispose]: async () => {} }
  return openSharedLimits({
    service: await openService(config.service, settings),
    serviceName: hideCredentials(config.serviceUrl ?? ''),
    timeoutMs: config.serviceTimeoutMs,
    limits,
    own,
    log,
  })
}

function openService(
  service: LimitServiceAddress,
  settings: RequestLimitsSettings,
): Promise<LimitService> {
  return service.kind === 'redis'
    ? openers.redis(service, settings)
    : openers.grpc(service, settings)
}
