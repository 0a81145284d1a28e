import { availableParallelism } from 'node:os'
import {
  type LogFormat,
  type LogLevel,
  logFormats,
  logLevels,
} from '@portcullis/service-kit/log/log'
import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  boolean,
  type Chapter,
  choice,
  duration,
  integer,
  type Settings,
} from '@portcullis/service-kit/settings/env'

export const processSettings = {
  title: 'Logging, health, startup and shutdown',
  variables: {
    logLevel: choice('LOG_LEVEL', logLevels, 'warning', 'Least severe level that is logged', {
      spellings: { warn: 'warning' },
      refuse: () => `Could not parse log level. It must be one of: ${logLevels.join(', ')}`,
    }),
    logFormat: choice(
      'LOG_FORMAT',
      logFormats,
      'text',
      'json writes a JSON object per line, with @message, @timestamp and level',
    ),
    workers: integer(
      'WORKERS',
      0,
      'Number of processes that share the ports and the statistics; must be 1 with counters in memory',
      {
        min: 1,
        max: 1_024,
        defaultText: 'the number of cores; 1 with counters in memory',
      },
    ),
    healthNeedsRules: boolean(
      'HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED',
      false,
      'Whether the service is unhealthy until the rules of at least one domain are loaded',
    ),
    startWithoutRules: boolean(
      'FORCE_START_WITHOUT_INITIAL_CONFIG',
      false,
      'Whether the listeners open before the first attempt to load rules',
    ),
    warmsUp: boolean(
      'WARM_UP',
      true,
      'Whether each process warms up with synthetic requests before it accepts connections, so that its first calls are fast',
    ),
    drainDelayMs: duration(
      'DRAIN_DELAY',
      '5s',
      'How long the service keeps serving after SIGTERM, reported as unhealthy, before it closes connections',
    ),
    drainTimeoutMs: duration(
      'DRAIN_TIMEOUT',
      '20s',
      'Time for calls in progress to finish after connections start to close',
    ),
  },
} satisfies Chapter

export interface LogConfig {
  readonly level: LogLevel
  readonly format: LogFormat
}

export interface LifecycleConfig {
  readonly healthNeedsRules: boolean
  readonly startWithoutRules: boolean
  readonly warmsUp: boolean
  readonly drainDelayMs: number
  readonly drainTimeoutMs: number
}

type ProcessSettings = Settings<typeof processSettings.variables>

export function toLog(settings: ProcessSettings): LogConfig {
  return { level: settings.logLevel, format: settings.logFormat }
}

export function toLifecycle(settings: ProcessSettings): LifecycleConfig {
  return {
    healthNeedsRules: settings.healthNeedsRules,
    startWithoutRules: settings.startWithoutRules,
    warmsUp: settings.warmsUp,
    drainDelayMs: settings.drainDelayMs,
    drainTimeoutMs: settings.drainTimeoutMs,
  }
}

/** @param isStoreOutside - whether several processes can share the counters */
export function toWorkers(
  { workers }: ProcessSettings,
  isStoreOutside: boolean,
  check: Check,
): number {
  const { variables } = processSettings
  if (!check.isSet(variables.workers)) return isStoreOutside ? availableParallelism() : 1
  if (workers > 1 && !isStoreOutside) {
    check.fault(
      variables.workers,
      'counters in memory belong to one process, so each process would allow the full limit. ' +
        'Set WORKERS=1, or set KVSTORE_URL to count in Redis',
    )
  }
  return workers
}
