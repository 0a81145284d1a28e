import { type LogLevel, logLevels } from '@portcullis/service-kit/log/log'
import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  boolean,
  type Chapter,
  choice,
  duration,
  port,
  type Settings,
  string,
} from '@portcullis/service-kit/settings/env'
import { checkDuration, checkHost, oneHour, tenYears } from './checks.ts'
import { unlessBlank, withOldNames } from './variables.ts'

export const observability = {
  title: 'Logs, traces and metrics',
  variables: withOldNames({
    logLevel: choice('AUTH_LOG_LEVEL', logLevels, 'info', 'Most verbose level that is logged', {
      aliases: ['LOG_LEVEL'],
      spellings: { warn: 'warning' },
    }),
    logFile: string('AUTH_LOG_FILE', '', 'File for the log', { defaultText: 'standard error' }),
    tracingEnabled: boolean('AUTH_TRACING_ENABLED', false, 'Whether traces are exported over OTLP'),
    tracingExporter: choice(
      'AUTH_TRACING_EXPORTER',
      ['opentelemetry'],
      'opentelemetry',
      'How traces are exported',
    ),
    metricsEnabled: boolean('AUTH_METRICS_ENABLED', false, 'Whether metrics are exported'),
    metricsExporter: choice(
      'AUTH_METRICS_EXPORTER',
      ['opentelemetry', 'prometheus'],
      'opentelemetry',
      'Whether metrics are pushed to a collector over OTLP, or served to Prometheus',
      { spellings: { pull: 'prometheus' } },
    ),
    pullHost: unlessBlank(
      string(
        'AUTH_OTEL_EXPORTER_PULL_HOST',
        '0.0.0.0',
        'Address on which metrics are served to Prometheus',
        {
          aliases: ['OTEL_EXPORTER_PULL_HOST', 'OTEL_EXPORTER_PROMETHEUS_HOST'],
        },
      ),
    ),
    pullPort: port(
      'AUTH_OTEL_EXPORTER_PULL_PORT',
      9_100,
      'Port on which metrics are served to Prometheus; each further worker uses the next port',
      {
        aliases: ['OTEL_EXPORTER_PULL_PORT', 'OTEL_EXPORTER_PROMETHEUS_PORT'],
      },
    ),
    auditTableDisabled: boolean(
      'AUTH_AUDIT_LOG_DISABLE_POSTGRES',
      false,
      'Whether audit entries are written to the log only, and not to the database',
    ),
    auditRetentionMs: duration(
      'AUTH_AUDIT_LOG_RETENTION',
      '0',
      'How long audit entries are kept in the database, such as 2160h for 90 days; 0: forever',
    ),
  }),
} satisfies Chapter

export interface ObservabilityConfig {
  readonly logLevel: LogLevel
  readonly logFile: string | undefined
  readonly tracingEnabled: boolean
  readonly metrics: 'none' | 'opentelemetry' | 'prometheus'
  readonly pullHost: string
  readonly pullPort: number
  readonly hasAuditTable: boolean
  /** Undefined: forever. */
  readonly auditRetentionMs: number | undefined
}

export function toObservability(
  settings: Settings<typeof observability.variables>,
  { cleansUp }: { readonly cleansUp: boolean },
  check: Check,
): ObservabilityConfig {
  const { auditRetentionMs } = observability.variables
  checkDuration(auditRetentionMs, settings.auditRetentionMs, tenYears, check)
  if (settings.auditRetentionMs > 0 && settings.auditRetentionMs < oneHour.ms) {
    check.fault(auditRetentionMs, 'must be at least 1h, or 0 to keep audit entries forever')
  }
  if (settings.auditRetentionMs > 0 && !cleansUp) {
    const name = check.nameOf(auditRetentionMs)
    check.note(`${name} has no effect: AUTH_DB_CLEANUP_ENABLED is false, so nothing is deleted`)
  }
  return {
    logLevel: settings.logLevel,
    logFile: settings.logFile || undefined,
    tracingEnabled: settings.tracingEnabled,
    metrics: settings.metricsEnabled ? settings.metricsExporter : 'none',
    pullHost: settings.pullHost.trim(),
    pullPort: settings.pullPort,
    hasAuditTable: !settings.auditTableDisabled,
    auditRetentionMs: settings.auditRetentionMs || undefined,
  }
}

export const profiler = {
  title: 'Profiler',
  variables: withOldNames({
    enabled: boolean(
      'AUTH_PROFILER_ENABLED',
      false,
      'Whether CPU and heap profiles are served at /debug/pprof/, in the format of go tool pprof',
    ),
    host: unlessBlank(
      string('AUTH_PROFILER_HOST', 'localhost', 'Address on which profiles are served'),
    ),
    port: port(
      'AUTH_PROFILER_PORT',
      9_998,
      'Port on which profiles are served; each further worker uses the next port',
    ),
  }),
} satisfies Chapter

export interface ProfilerConfig {
  readonly host: string
  readonly port: number
}

const loopback = /^(?:localhost|127\..*|::1)$/

/** Returns undefined if no profiles are served. */
export function toProfiler(
  settings: Settings<typeof profiler.variables>,
  check: Check,
): ProfilerConfig | undefined {
  const { variables } = profiler
  const host = settings.host.trim()
  checkHost(variables.host, host, check)
  if (!settings.enabled) return undefined
  if (!loopback.test(host)) {
    check.note(
      `${check.nameOf(variables.host)} is ${host}: anyone who can reach it can slow the server down and read the names of its functions`,
    )
  }
  return { host, port: settings.port }
}
