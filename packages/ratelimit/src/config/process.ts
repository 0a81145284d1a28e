import { availableParallelism } from 'node:os'
import type { Check } from '@portcullis/service-kit/config-check'
import {
  boolean,
  type Chapter,
  choice,
  duration,
  integer,
  type Settings,
} from '@portcullis/service-kit/env'
import { type LogFormat, type LogLevel, logFormats, logLevels } from '@portcullis/service-kit/log'

export const processSettings = {
  title: 'Logs, health, start and stop',
  variables: {
    logLevel: choice('LOG_LEVEL', logLevels, 'warning', 'The most talkative level to be logged', {
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
      'How many processes share the ports and the statistics; counters in memory need 1',
      {
        min: 1,
        max: 1_024,
        defaultText: 'the number of cores; 1 where counters live in memory',
      },
    ),
    healthNeedsRules: boolean(
      'HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED',
      false,
      'Whether the service is unhealthy until rules of at least one domain are loaded',
    ),
    startWithoutRules: boolean(
      'FORCE_START_WITHOUT_INITIAL_CONFIG',
      false,
      'Whether the listeners open before the first attempt to load rules',
    ),
    warmsUp: boolean(
      'WARM_UP',
      true,
      'Whether each process decides synthetic requests before it takes connections, so that its first calls are fast',
    ),
    drainDelayMs: duration(
      'DRAIN_DELAY',
      '5s',
      'After SIGTERM, how long to serve on, already unhealthy, before connections are closed',
    ),
    drainTimeoutMs: duration(
      'DRAIN_TIMEOUT',
      '20s',
      'How long calls in progress may take to end once connections are being closed',
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

/** @param isStoreOutside whether several processes can count in one place. */
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
      'counters in memory live in one process, so several would each admit the whole limit. ' +
        'Set WORKERS=1, or set KVSTORE_URL to count in Redis',
    )
  }
  return workers
}
