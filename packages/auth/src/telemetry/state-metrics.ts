import type { Meter } from '@opentelemetry/api'
import type { Telemetry } from './telemetry.ts'

const waitBoundaries = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10]

/** What is read when metrics are collected: connections, the outbox, the hash queue. */
export function createGauges(
  meter: Meter,
): Pick<Telemetry, 'watchPool' | 'countPoolWait' | 'watchHashQueue' | 'watchOutbox'> {
  const waits = meter.createHistogram('db.client.connection.wait_time', {
    description: 'How long statements wait for a connection to PostgreSQL',
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
        'Connections to PostgreSQL that this process may have at the moment',
        '{connection}',
      ).addCallback((result) => {
        const { limit } = read()
        if (limit !== undefined) result.observe(limit)
      })
      gauge(
        'db.client.connection.pending_requests',
        'Statements that wait for a connection to PostgreSQL',
        '{request}',
      ).addCallback((result) => result.observe(read().waiting))
    },
    countPoolWait: (waitMs) => waits.record(waitMs / 1_000),
    watchHashQueue(queue) {
      gauge(
        'auth_hash_queue_waiting',
        'Passwords that wait to be hashed',
        '{password}',
      ).addCallback((result) => result.observe(queue.waiting))
      gauge('auth_hash_queue_running', 'Passwords that are being hashed', '{password}').addCallback(
        (result) => result.observe(queue.running),
      )
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
        'For how long a message has been due that no process has taken',
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
