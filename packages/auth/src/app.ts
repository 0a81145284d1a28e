import type { BoundAddress } from '@portcullis/grpc-unary'
import type { EventLog } from '@portcullis/service-kit/log/log'
import type { Lifecycle } from '@portcullis/service-kit/process/lifecycle'
import type { FastifyInstance } from 'fastify'
import type { ExtAuthzConfig } from './config/api-keys.ts'
import { toCompatNote } from './config/compatibility.ts'
import type { Config } from './config/config.ts'
import { type ChecksSettings, createSharedHashQueue } from './create-services.ts'
import { listen } from './db/connection/notifications.ts'
import { openDatabase } from './db/database.ts'
import { openDatabaseClock } from './db/database-clock.ts'
import { setRequestFinder } from './features/audit/audited-request.ts'
import { openSignInLog } from './features/audit/sign-in-log.ts'
import { openRevocationFeed } from './features/revocations/feed.ts'
import { openDeliveries } from './features/sessions/deliveries.ts'
import { type Generation, openGeneration, type ProcessParts } from './generation.ts'
import { type Connections, trackConnections } from './http/connections.ts'
import { openListeners } from './http/open-listeners.ts'
import { openRequestSwitch } from './http/request-switch.ts'
import { createBuckets } from './limits/buckets.ts'
import { createGuesses } from './limits/guesses.ts'
import { createAdjustableTable, toLimitTable } from './limits/limit-table.ts'
import { openRequestLimits } from './limits/shared/index.ts'
import type { WrittenFormat } from './passwords/formats/password-format.ts'
import type { PrepareChange } from './reloading/reload-plan.ts'
import { createAuditLog } from './telemetry/observers.ts'
import { openTelemetry } from './telemetry/open-telemetry.ts'
import { apartFromCall, currentCall } from './telemetry/watched-call.ts'
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
  /** The gRPC listener for ext_authz. Undefined if there is none, or if another process owns it. */
  readonly checks?: BoundAddress
  readonly prepare: PrepareChange
}

/** Composition root: creates and connects all parts of the server. */
export async function openApp(settings: AppSettings): Promise<App> {
  const { config, lifecycle, group } = settings
  const { parts, limitTable } = await openProcessParts(settings, () => current.notify())
  let current = await openGeneration(parts, config)
  const retiring = new Set<Promise<void>>()
  lifecycle.own('messages', {
    async [Symbol.asyncDispose]() {
      await Promise.all([...retiring, current[Symbol.asyncDispose]()])
    },
  })
  current.start()
  parts.telemetry.watchOutbox(async () => (await current.services.readiness.check()).outbox)

  const { server } = current
  const requests = openRequestSwitch(server.server)
  const connections = trackConnections(server.server, () => group?.reportClosed())
  const retire = async (generation: Generation): Promise<void> => {
    await connections.settled()
    await generation[Symbol.asyncDispose]()
  }
  const prepare: PrepareChange = async (next) => {
    const generation = await openGeneration(parts, next)
    return {
      commit() {
        const previous = current
        current = generation
        limitTable.set(toLimitTable(next))
        requests.switchTo((request, response) => generation.server.routing(request, response))
        generation.start()
        // Streams would otherwise keep the previous configuration in memory.
        parts.revocationFeed.endReaders()
        const retired = retire(previous).catch((error: Error) => {
          settings.log.error(`The previous configuration could not be released: ${error.message}`)
        })
        retiring.add(retired)
        void retired.then(() => retiring.delete(retired))
      },
      discard: async () => await generation[Symbol.asyncDispose](),
    }
  }

  let closeListeners = () => {}
  lifecycle.drain('HTTP listener', async (expired) => {
    closeListeners()
    await parts.revocationFeed[Symbol.asyncDispose]()
    await Promise.all([server.close(), connections.drain(expired)])
  })
  const openChecks = async (checksConfig: ExtAuthzConfig) => {
    const { openChecks: open } = await import('./ext-authz/open-checks.ts')
    return open({
      config: checksConfig,
      getServices: () => current.services,
      log: settings.log,
      ...(group && { onConnections: (count) => group.reportChecks(count) }),
    })
  }
  const checks =
    config.apiKeys.checks &&
    lifecycle.own('ext_authz listener', await openChecks(config.apiKeys.checks))
  if (checks) lifecycle.drain('ext_authz listener', () => checks.drain())
  lifecycle.drain('messages', (expired) => current.drain(expired))
  lifecycle.drain('telemetry', (expired) => parts.telemetry.flush(expired))
  if (group !== undefined) {
    receive(server, connections, group)
    if (checks) group.receiveChecks((socket) => checks.adopt(socket))
    return { url: '', prepare }
  }
  const listeners = await openListeners(server, connections, config.api)
  closeListeners = () => listeners.close()
  const bound = await checks?.listen()
  const note = toCompatNote(config.api)
  settings.log.info(`Listening on ${listeners.url}, version ${settings.version}, ${note}`)
  return { url: listeners.url, ...(bound && { checks: bound }), prepare }
}

/** @param wakeMessages signals that there are messages to send. */
async function openProcessParts(settings: AppSettings, wakeMessages: () => void) {
  const { config, log, lifecycle, group } = settings
  const { hasAuditTable } = config.observability
  const telemetry = lifecycle.own(
    'telemetry',
    await openTelemetry({ ...settings, workerNumber: group?.number ?? 1 }),
  )
  if (config.profiler !== undefined) {
    const { openProfiler } = await import('./profiling/open-profiler.ts')
    const workerNumber = group?.number ?? 1
    const profiler = await openProfiler({ config: config.profiler, workerNumber, log })
    lifecycle.own('profiler', profiler)
  }
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
      healthCheckMs: config.database.healthCheckMs,
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
  const deliveries = lifecycle.own('delivered tokens', openDeliveries({ db, log, now }))
  setRequestFinder(() => currentCall.getStore())
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
  const revocationFeed = lifecycle.own(
    'revocations',
    openRevocationFeed({
      db,
      log,
      now,
      listen: (onNotified) =>
        listen({ url: settings.databaseUrl, channel: 'portcullis_revocations', onNotified, log }),
    }),
  )
  telemetry.watchRevocations(() => revocationFeed.state)
  const hashing = createSharedHashQueue(group?.size ?? 1)
  telemetry.watchHashQueue(hashing)
  const limitTable = createAdjustableTable(toLimitTable(config))
  const { limits } = limitTable
  const requestLimits = lifecycle.own(
    'request limits',
    await openRequestLimits({
      config: config.limits,
      limits,
      own: createBuckets(limits, now, group?.peers),
      log,
      now,
    }),
  )
  const parts: ProcessParts = {
    version: settings.version,
    startedAt: settings.startedAt,
    db,
    now,
    deliveries,
    signInLog,
    hashing,
    revocationFeed,
    telemetry,
    requestLimits,
    guesses: createGuesses(requestLimits),
    wakeMessages: () => apartFromCall(wakeMessages),
    log,
    checkers: settings.checkers,
    passwordFormat: settings.passwordFormat,
    group,
  }
  return { parts, limitTable }
}

function receive(server: FastifyInstance, connections: Connections, group: Group): void {
  // Node.js starts checking for slow clients on this event.
  server.server.emit('listening')
  group.receive((socket) => connections.adopt(socket))
}
