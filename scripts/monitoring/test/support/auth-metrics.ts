import type { TestContext } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createLog } from '@portcullis/service-kit/log/log'
import { parseConfig } from '../../../../packages/auth/src/config/config.ts'
import type { MessageChannel } from '../../../../packages/auth/src/messages/statements/outbox.ts'
import { openTelemetry } from '../../../../packages/auth/src/telemetry/open-telemetry.ts'
import type { Telemetry } from '../../../../packages/auth/src/telemetry/telemetry.ts'
import type { WatchedCall } from '../../../../packages/auth/src/telemetry/watched-call.ts'
import { testEnvironment } from '../../../../packages/auth/test/support/auth-server.ts'

/** The metrics page of the auth server after everything that it counts has happened once. */
export async function readAuthPage(t: TestContext): Promise<string> {
  const { config } = parseConfig({
    ...testEnvironment,
    DATABASE_URL: 'postgres://127.0.0.1/auth',
    AUTH_METRICS_ENABLED: 'true',
    AUTH_METRICS_EXPORTER: 'prometheus',
    OTEL_EXPORTER_PULL_HOST: '127.0.0.1',
    OTEL_EXPORTER_PULL_PORT: '0',
  })
  const lines: string[] = []
  const log = createLog({ format: 'text', level: 'info', write: (line) => lines.push(line) })
  const telemetry = await openTelemetry({ config, version: '1.2.3', log, workerNumber: 1 })
  t.after(() => telemetry[Symbol.asyncDispose]())
  useAll(telemetry)
  const [url = ''] = /http:\/\/127\.0\.0\.1:\d+\/metrics/.exec(lines.join('')) ?? []
  for (;;) {
    const page = await (await fetch(url)).text()
    // Garbage collection is reported a moment after it has happened.
    if (page.includes('v8js_gc_duration_seconds')) return page
    collectGarbage()
  }
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}

/** Methods that record nothing. */
type Silent = 'calls' | 'flush' | typeof Symbol.asyncDispose

/** The types make this fail to compile when the server counts something new that is missing here. */
const uses: {
  readonly [Name in Exclude<keyof Telemetry, Silent>]: (telemetry: Telemetry) => void
} = {
  watchStatement: ({ watchStatement }) => watchStatement?.('find_user_by_email')(undefined),
  watchPool: ({ watchPool }) => watchPool(() => ({ used: 1, idle: 1, waiting: 0, limit: 10 })),
  countPoolWait: ({ countPoolWait }) => countPoolWait?.(1),
  watchHashQueue: ({ watchHashQueue }) => watchHashQueue({ waiting: 0, running: 1 }),
  watchRevocations: ({ watchRevocations }) =>
    watchRevocations(() => ({ readers: 1, isListening: true })),
  watchOutbox: ({ watchOutbox }) =>
    watchOutbox(async () => ({ waiting: 1, givenUp: 1, oldestSeconds: 1, overdueSeconds: 1 })),
  countGivenUp: ({ countGivenUp }) => countGivenUp('email', 'recovery'),
  countHashing({ countHashing }) {
    for (const kind of ['hash_password', 'compare_hash_and_password'] as const) {
      countHashing(kind, 'submitted')
      countHashing(kind, 'completed')
    }
  },
  countMessage({ countMessage }) {
    const channels = { email: true, sms: true, hook: true, request: false } satisfies Record<
      MessageChannel,
      boolean
    >
    for (const [channel, isSent] of Object.entries(channels)) {
      if (isSent) countMessage(channel, 'recovery', true)
    }
  },
  countCleanup: ({ countCleanup }) =>
    countCleanup({
      outcome: 'completed',
      durationMs: 1,
      deleted: new Map([['ended sessions', 1]]),
      lagMs: 0,
    }),
  countSignIn: ({ countSignIn }) => countSignIn('succeeded'),
}

function useAll(telemetry: Telemetry): void {
  for (const use of Object.values(uses)) use(telemetry)
  const call = { method: 'POST', route: '/recover', status: 429, durationMs: 1 }
  const failure = { code: 'over_email_send_rate_limit' }
  for (const watch of telemetry.calls) watch.begin({ ...call, failure } as WatchedCall)()
}
