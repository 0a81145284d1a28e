import type { Counter, Meter } from '@opentelemetry/api'
import { MeterProvider, type MetricReader } from '@opentelemetry/sdk-metrics'
import type { StatementEnded } from '../db/database.ts'
import { createGauges, watchRuntime } from './gauges.ts'
import { closeSoon, flushInTime } from './reporting.ts'
import type { Hashing, SdkSettings, Telemetry } from './telemetry.ts'
import type { CallWatch } from './watched-call.ts'

export interface Metrics extends AsyncDisposable {
  readonly calls: CallWatch
  readonly counters: Pick<
    Telemetry,
    | 'watchPool'
    | 'countPoolWait'
    | 'watchHashQueue'
    | 'watchRevocations'
    | 'watchOutbox'
    | 'countHashing'
    | 'countMessage'
    | 'countGivenUp'
    | 'countCleanup'
    | 'countSignIn'
  >
  readonly watchStatement: (name: string) => StatementEnded
  flush(giveUp: AbortSignal): Promise<void>
}

/** Metrics are either pulled by Prometheus or pushed to a collector. */
const readers: Readonly<
  Record<'opentelemetry' | 'prometheus', (settings: SdkSettings) => Promise<MetricReader>>
> = {
  opentelemetry: async (settings) => {
    const { openPushReader } = await import('./push-reader.ts')
    return await openPushReader(settings)
  },
  prometheus: async (settings) => {
    const { openPullReader } = await import('./pull-reader.ts')
    return await openPullReader(settings)
  },
}

export async function openMetrics(settings: SdkSettings): Promise<Metrics> {
  const { config, version, log, resource } = settings
  const { metrics } = config.observability
  const reader = await readers[metrics === 'none' ? 'opentelemetry' : metrics](settings)
  const provider = new MeterProvider({ resource, readers: [reader] })
  const meter = provider.getMeter('auth', version)
  const runtime = watchRuntime(meter)
  countVersion(meter, version)
  return {
    calls: watchCalls(meter),
    counters: { ...createCounters(meter), ...createGauges(meter) },
    watchStatement: watchStatements(meter),
    flush: (giveUp) => flushInTime('metrics', provider.forceFlush(), giveUp, log),
    async [Symbol.asyncDispose]() {
      runtime[Symbol.dispose]()
      await closeSoon(provider.shutdown())
    },
  }
}

/**
 * Other methods are recorded as `_OTHER`, as the semantic conventions require, because clients can
 * send any text.
 */
const methods: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
])

/** From 5 ms to 10 s, the default time limit of requests. */
const boundaries = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

/** Only a few boundaries, because each is a separate series for every statement. */
const statementBoundaries = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10]

/** Groups requests by route and not by path, because each path would be a separate series. */
function watchCalls(meter: Meter): CallWatch {
  const statuses = meter.createCounter('http_status_codes', {
    description: 'Responses by status and route',
  })
  const durations = meter.createHistogram('http.server.request.duration', {
    description: 'Time from the first byte of a request to the last byte of its response',
    unit: 's',
    advice: { explicitBucketBoundaries: boundaries },
  })
  const active = meter.createUpDownCounter('http.server.active_requests', {
    description: 'Requests in progress',
    unit: '{request}',
  })
  const emailLimits = meter.createCounter('email_rate_limit_counter', {
    description: 'Requests rejected by the email rate limit',
  })
  return {
    begin(call) {
      active.add(1)
      return () => {
        const { route, status, method, durationMs, failure } = call
        const known = methods.has(method) ? method : '_OTHER'
        active.add(-1)
        statuses.add(1, { code: status, 'http.route': route })
        durations.record(durationMs / 1_000, { 'http.route': route, 'http.request.method': known })
        if (failure?.code === 'over_email_send_rate_limit') emailLimits.add(1)
      }
    },
  }
}

function createCounters(
  meter: Meter,
): Pick<
  Telemetry,
  'countHashing' | 'countMessage' | 'countGivenUp' | 'countCleanup' | 'countSignIn'
> {
  const count = (name: string, description: string) => meter.createCounter(name, { description })
  const hashing: Readonly<Record<Hashing, Readonly<Record<'submitted' | 'completed', Counter>>>> = {
    hash_password: {
      submitted: count('auth_hash_password_submitted', 'Passwords submitted for hashing'),
      completed: count('auth_hash_password_completed', 'Passwords hashed'),
    },
    compare_hash_and_password: {
      submitted: count(
        'auth_compare_hash_and_password_submitted',
        'Passwords submitted for checking',
      ),
      completed: count('auth_compare_hash_and_password_completed', 'Passwords checked'),
    },
  }
  const givenUp = count('auth_messages_given_up', 'Messages that failed permanently')
  const signIns = count('auth_sign_ins', 'Successful sign-ins, and failed ones by reason')
  const messages = new Map<string, readonly [all: Counter, failed: Counter]>()
  const messagesOf = (channel: string) => {
    const known = messages.get(channel) ?? [
      count(`auth_${channel}_send_operations_total`, `Attempts to send a message by ${channel}`),
      count(`auth_${channel}_send_errors_total`, `Failed attempts to send a message by ${channel}`),
    ]
    messages.set(channel, known)
    return known
  }
  return {
    countHashing: (kind, stage) => hashing[kind][stage].add(1),
    countMessage(channel, kind, isFailed) {
      const [all, failed] = messagesOf(channel)
      all.add(1, { type: kind })
      if (isFailed) failed.add(1, { type: kind })
    },
    countGivenUp: (channel, kind) => givenUp.add(1, { channel, type: kind }),
    countCleanup: createCleanupMetrics(meter),
    countSignIn: (outcome) => signIns.add(1, { outcome }),
  }
}

/** Groups statements by name and not by text: there are about a hundred names. */
function watchStatements(meter: Meter): (name: string) => StatementEnded {
  const durations = meter.createHistogram('db.client.operation.duration', {
    description: 'Time from requesting a connection to the end of the statement',
    unit: 's',
    advice: { explicitBucketBoundaries: statementBoundaries },
  })
  return (name) => {
    const startMs = performance.now()
    return (error) =>
      durations.record((performance.now() - startMs) / 1_000, {
        'db.operation.name': name,
        outcome: error === undefined ? 'completed' : 'failed',
      })
  }
}

function createCleanupMetrics(meter: Meter): Telemetry['countCleanup'] {
  const rows = meter.createCounter('auth_cleanup_affected_rows', {
    description: 'Expired rows that were deleted',
  })
  const rounds = meter.createHistogram('auth_cleanup_duration', {
    description: 'Duration of cleanup rounds',
    unit: 's',
    advice: { explicitBucketBoundaries: boundaries },
  })
  let lagMs: number | undefined
  meter
    .createObservableGauge('auth_cleanup_lag', {
      description: 'Time since the oldest remaining row should have been deleted',
      unit: 's',
    })
    .addCallback((result) => {
      if (lagMs !== undefined) result.observe(lagMs / 1_000)
    })
  return (round) => {
    for (const [what, count] of round.deleted) rows.add(count, { kind: what })
    rounds.record(round.durationMs / 1_000, { outcome: round.outcome })
    lagMs = round.lagMs
  }
}

function countVersion(meter: Meter, version: string): void {
  meter
    .createObservableGauge('auth_running', { description: '1 while the server is running' })
    .addCallback((result) => result.observe(1))
  const [, ...parts] = /^(\d+)\.(\d+)\.(\d+)/.exec(version) ?? []
  for (const [at, name] of ['major', 'minor', 'patch'].entries()) {
    const description = `The ${name} part of the version`
    meter
      .createObservableGauge(`auth_version_${name}`, { description })
      .addCallback((result) => result.observe(Number(parts[at] ?? 0)))
  }
}
