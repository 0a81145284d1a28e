import {
  monitorEventLoopDelay,
  type PerformanceEntry,
  PerformanceObserver,
  performance,
} from 'node:perf_hooks'
import process from 'node:process'
import { getHeapStatistics } from 'node:v8'
import type { Meter } from '@opentelemetry/api'
import type { Telemetry } from './telemetry.ts'

const waitBoundaries = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10]

/** Values that are read when metrics are collected: connections, the outbox, the hash queue. */
export function createGauges(
  meter: Meter,
): Pick<
  Telemetry,
  'watchPool' | 'countPoolWait' | 'watchHashQueue' | 'watchRevocations' | 'watchOutbox'
> {
  const waits = meter.createHistogram('db.client.connection.wait_time', {
    description: 'Time that statements wait for a connection to PostgreSQL',
    unit: 's',
    advice: { explicitBucketBoundaries: waitBoundaries },
  })
  const gauge = (name: string, description: string, unit: string) =>
    meter.createObservableGauge(name, { description, unit })

  return {
    watchPool(read) {
      gauge('db.client.connection.count', 'Connections to PostgreSQL', '{connection}').addCallback(
        (result) => {
          const { used, idle } = read()
          result.observe(used, { state: 'used' })
          result.observe(idle, { state: 'idle' })
        },
      )
      gauge(
        'db.client.connection.max',
        'Current maximum number of connections to PostgreSQL of this process',
        '{connection}',
      ).addCallback((result) => {
        const { limit } = read()
        if (limit !== undefined) result.observe(limit)
      })
      gauge(
        'db.client.connection.pending_requests',
        'Statements waiting for a connection to PostgreSQL',
        '{request}',
      ).addCallback((result) => result.observe(read().waiting))
    },
    countPoolWait: (waitMs) => waits.record(waitMs / 1_000),
    watchHashQueue(queue) {
      gauge('auth_hash_queue_waiting', 'Passwords waiting to be hashed', '{password}').addCallback(
        (result) => result.observe(queue.waiting),
      )
      gauge('auth_hash_queue_running', 'Passwords being hashed', '{password}').addCallback(
        (result) => result.observe(queue.running),
      )
    },
    watchRevocations(read) {
      gauge(
        'auth_token_verifiers',
        'Connected clients of GET /revocations',
        '{client}',
      ).addCallback((result) => result.observe(read().readers))
      gauge(
        'auth_revocation_notified',
        'Whether PostgreSQL notifies this process of revocations; 0 without a client, behind a connection pooler, and while the connection is lost',
        '1',
      ).addCallback((result) => result.observe(read().isListening ? 1 : 0))
    },
    watchOutbox(read) {
      const messages = gauge(
        'auth_outbox_messages',
        'Messages in the outbox, counted up to 10001',
        '{message}',
      )
      const age = gauge('auth_outbox_oldest_age', 'Age of the oldest message to be sent', 's')
      const overdue = gauge(
        'auth_outbox_overdue',
        'How long the oldest due message has waited to be claimed',
        's',
      )
      meter.addBatchObservableCallback(
        async (result) => {
          const state = await read()
          if (state === undefined) return
          result.observe(messages, state.waiting, { state: 'waiting' })
          result.observe(messages, state.givenUp, { state: 'given_up' })
          result.observe(age, state.oldestSeconds)
          result.observe(overdue, state.overdueSeconds)
        },
        [messages, age, overdue],
      )
    },
  }
}

type CollectionEntry = PerformanceEntry & { readonly detail?: { readonly kind?: number } }

/** Kinds of garbage collection by their number in V8. */
const collections: Readonly<Record<number, string>> = {
  1: 'minor',
  2: 'minor',
  4: 'major',
  8: 'incremental',
  16: 'weakcb',
}

const boundaries = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]

/**
 * Event loop, memory and garbage collection, with the metric names of OpenTelemetry for Node.js and
 * V8.
 */
export function watchRuntime(meter: Meter): Disposable {
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  const read: Readonly<Record<string, () => number>> = {
    min: () => delay.min,
    mean: () => delay.mean,
    p50: () => delay.percentile(50),
    p99: () => delay.percentile(99),
    max: () => delay.max,
  }
  const delays = Object.entries(read).map(([name, ns]) => {
    const description = `Event loop delay since the last collection: ${name}`
    const gauge = meter.createObservableGauge(`nodejs.eventloop.delay.${name}`, {
      description,
      unit: 's',
    })
    return { gauge, ns }
  })
  meter.addBatchObservableCallback(
    (result) => {
      for (const { gauge, ns } of delays) {
        const seconds = ns() / 1e9
        // There is no value immediately after a reset.
        result.observe(gauge, Number.isFinite(seconds) && seconds < 1e9 ? seconds : 0)
      }
      delay.reset()
    },
    delays.map(({ gauge }) => gauge),
  )

  let last = performance.eventLoopUtilization()
  meter
    .createObservableGauge('nodejs.eventloop.utilization', {
      description: 'Fraction of time in which the event loop was busy since the last collection',
      unit: '1',
    })
    .addCallback((result) => {
      const now = performance.eventLoopUtilization()
      result.observe(performance.eventLoopUtilization(now, last).utilization)
      last = now
    })

  const bytes = (name: string, description: string, value: () => number) =>
    meter
      .createObservableGauge(name, { description, unit: 'By' })
      .addCallback((result) => result.observe(value()))
  bytes('v8js.memory.heap.used', 'Heap in use', () => getHeapStatistics().used_heap_size)
  bytes('v8js.memory.heap.limit', 'Maximum heap size', () => getHeapStatistics().heap_size_limit)
  bytes('process.memory.usage', 'Resident memory', () => process.memoryUsage.rss())
  meter
    .createObservableCounter('process.cpu.time', { description: 'CPU time', unit: 's' })
    .addCallback((result) => {
      const { user, system } = process.cpuUsage()
      result.observe(user / 1e6, { 'cpu.mode': 'user' })
      result.observe(system / 1e6, { 'cpu.mode': 'system' })
    })

  const pauses = meter.createHistogram('v8js.gc.duration', {
    description: 'Duration of garbage collections',
    unit: 's',
    advice: { explicitBucketBoundaries: boundaries },
  })
  const observer = new PerformanceObserver((list) => {
    for (const { duration, detail } of list.getEntries() as readonly CollectionEntry[]) {
      const kind = detail?.kind ?? 0
      pauses.record(duration / 1_000, { 'v8js.gc.type': collections[kind] ?? 'other' })
    }
  })
  observer.observe({ entryTypes: ['gc'] })
  return {
    [Symbol.dispose]() {
      delay.disable()
      observer.disconnect()
    },
  }
}
