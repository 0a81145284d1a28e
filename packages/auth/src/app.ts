import type { Lifecycle } from '@portcullis/service-kit/lifecycle'
import type { EventLog } from '@portcullis/service-kit/log'
import { toCompatNote } from './config/compat-mode.ts'
import type { Config } from './config/config.ts'
import { type ChecksSettings, createServices } from './create-services.ts'
import { openDatabase } from './db/database.ts'
import { openDatabaseClock } from './db/database-clock.ts'
import { openSignInLog } from './features/audit/sign-in-log.ts'
import { sendDeferred } from './features/deferred-messages.ts'
import { endpoints } from './features/index.ts'
import { openCleanup } from './features/server/cleanup.ts'
import { disabledFeatures } from './features/server/endpoints.ts'
import { openDeliveries } from './features/sessions/deliveries.ts'
import { type Connections, trackConnections } from './http/connections.ts'
import { listenOnFirst, toListenHosts } from './http/listen-hosts.ts'
import { createRequestLog } from './http/request-log.ts'
import { createServer } from './http/server.ts'
import { openRequestLimits } from './limits/shared/index.ts'
import { openMessages } from './messages/sending/open-messages.ts'
import type { WrittenFormat } from './passwords/formats/password-format.ts'
import { countPasswords, createAuditLog, noteLimitedSignIns } from './telemetry/observers.ts'
import { openTelemetry } from './telemetry/open-telemetry.ts'
import { apartFromCall, currentCall } from './telemetry/watched-call.ts'
import { openServerKeys } from './tokens/server-keys.ts'
import type { Group } from './workers/group.ts'

export interface AppSettings {
  readonly config: Config
  readonly version: string
  /** When the server started, if another process started it. Milliseconds since the epoch. */
  readonly startedAt?: number
  /** The URL of a running PostgreSQL with up-to-date tables. */
  readonly databaseUrl: string
  /** The connection limit of PostgreSQL, if it is known. */
  readonly maxConnections?: number
  readonly log: EventLog
  readonly lifecycle: Lifecycle
  /** Milliseconds since the epoch. Default: the clock of PostgreSQL. */
  readonly now?: () => number
  /** Called for every statement; tests count them. */
  readonly onStatement?: (name: string) => void
  readonly checkers?: ChecksSettings['checkers']
  /** Replaces the configured format; tests use a fast one. */
  readonly passwordFormat?: WrittenFormat | undefined
  /** Set if this process is one of several workers behind one port. */
  readonly group?: Group
}

export interface App {
  /** `http://host:port`; empty if another process owns the port. */
  readonly url: string
}

/** Composition root: creates and connects all parts of the server. */
export async function openApp(settings: AppSettings): Promise<App> {
  const { config, log, lifecycle, group } = settings
  const { hasAuditTable } = config.observability
  const telemetry = lifecycle.own(
    'telemetry',
    await openTelemetry({ ...settings, workerNumber: group?.number ?? 1 }),
  )
  const db = lifecycle.own(
    'database',
    openDatabase({
      url: settings.databaseUrl,
      schema: config.database.namespace,
      maxPoolSize: config.database.maxPoolSize ?? settings.maxConnections,
      maxIdle: config.database.maxIdlePoolSize,
      percentage: config.database.connectionPercentage,
      fewestProcesses: group?.size ?? 1,
      preparedStatements: config.database.preparedStatements,
      idleTimeoutMs: config.database.idleTimeoutMs,
      maxLifetimeMs: config.database.maxLifetimeMs,
      statementTimeoutMs: config.api.maxRequestDurationMs,
      log,
      ...(settings.onStatement && { onStatement: settings.onStatement }),
      ...(telemetry.countPoolWait && { onWaited: telemetry.countPoolWait }),
      ...(telemetry.watchStatement && { watchStatement: telemetry.watchStatement }),
      ...((log.isEnabled('info') || !hasAuditTable) && {
        audit: { isStored: hasAuditTable, onWritten: createAuditLog(log) },
      }),
    }),
  )
  telemetry.watchPool(() => db.pool)
  const { now } =
    settings.now === undefined
      ? lifecycle.own('clock', await openDatabaseClock({ db, log }))
      : { now: settings.now }
  // One worker is enough for the cleanup.
  if (config.database.cleansUp && (group?.number ?? 1) === 1) {
    lifecycle.own(
      'cleanup',
      openCleanup({
        db,
        log,
        now,
        linkSeconds: config.mail.otpExpiresInSeconds,
        cooldownMs: Math.max(
          config.mail.cooldownMs,
          config.mail.magicLinkCooldownMs,
          config.sms.maxFrequencyMs,
        ),
        auditMs: config.observability.auditRetentionMs,
        onRound: telemetry.countCleanup,
      }),
    )
  }
  const keys = lifecycle.own(
    'server keys',
    await openServerKeys({ db, secrets: config.secrets, log }),
  )
  const deliveries = lifecycle.own('delivered tokens', openDeliveries({ db, log, now }))
  const signInLog = lifecycle.own(
    'sign-in log',
    openSignInLog({
      db,
      log,
      now,
      keepsFailures: hasAuditTable,
      auditMs: config.observability.auditRetentionMs,
      onFailure: ({ reason, userId }) => {
        const call = currentCall.getStore()
        if (call !== undefined) call.signInFailure = { reason, userId }
      },
      onSignIn: telemetry.countSignIn,
    }),
  )
  const created = await createServices({
    ...settings,
    signInLog,
    db,
    now,
    deliveries,
    keys,
    onHashQueue: telemetry.watchHashQueue,
    // `messages` is opened below, after the database has been reached.
    wakeMessages: () => apartFromCall(() => messages.notify()),
    shareLimits: async (limits, own) =>
      lifecycle.own(
        'request limits',
        await openRequestLimits({ config: config.limits, limits, own, log, now }),
      ),
  })
  telemetry.watchOutbox(async () => (await created.readiness.check()).outbox)
  const services = { ...created, passwords: countPasswords(created.passwords, telemetry) }
  const messages = lifecycle.own(
    'messages',
    openMessages({
      config,
      db,
      log,
      hooks: services.hooks,
      onAttempt: telemetry.countMessage,
      onGivenUp: telemetry.countGivenUp,
      deliverDeferred: (request) => sendDeferred(services, request),
    }),
  )
  const server = createServer({
    endpoints: [...endpoints, ...disabledFeatures],
    services,
    log,
    // The request log is last, so that it includes what the others have recorded.
    watches: [
      ...telemetry.calls,
      noteLimitedSignIns(signInLog, config.tokens.audience),
      createRequestLog(log),
    ],
    ...(group && { warnOnce: (topic, message) => group.warnOnce(topic, message) }),
  })
  const connections = trackConnections(server.server, () => group?.reportClosed())
  lifecycle.drain('HTTP listener', async (expired) => {
    await Promise.all([server.close(), connections.drain(expired)])
  })
  lifecycle.drain('messages', (expired) => messages.drain(expired))
  lifecycle.drain('telemetry', (expired) => telemetry.flush(expired))
  if (group !== undefined) {
    await receive(server, connections, group)
    return { url: '' }
  }
  const { host, port } = config.api
  const url = await listenOnFirst(toListenHosts(host), (each) =>
    server.listen({ host: each, port }),
  )
  log.info(`Listening on ${url}, version ${settings.version}, ${toCompatNote(config.api)}`)
  return { url }
}

async function receive(
  server: ReturnType<typeof createServer>,
  connections: Connections,
  group: Group,
): Promise<void> {
  await server.ready()
  // Node.js starts checking for slow clients on this event.
  server.server.emit('listening')
  group.receive((socket) => connections.adopt(socket))
}
