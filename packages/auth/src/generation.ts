import type { EventLog } from '@portcullis/service-kit/log/log'
import { Resources } from '@portcullis/service-kit/process/resources'
import type { FastifyInstance } from 'fastify'
import type { Config } from './config/config.ts'
import { type ChecksSettings, createServices } from './create-services.ts'
import { sendDeferred } from './features/deferred-messages.ts'
import { endpoints } from './features/index.ts'
import { openCleanup } from './features/server/cleanup.ts'
import type { Deliveries } from './features/sessions/deliveries.ts'
import { createRequestLog } from './http/request-log.ts'
import { createServer } from './http/server.ts'
import { openMessages } from './messages/sending/open-messages.ts'
import type { OutboxSender } from './messages/sending/outbox-sender.ts'
import type { WrittenFormat } from './passwords/formats/password-format.ts'
import type { HashQueue } from './passwords/passwords.ts'
import type { Services } from './services.ts'
import { countPasswords, noteLimitedSignIns } from './telemetry/observers.ts'
import type { Telemetry } from './telemetry/telemetry.ts'
import { openServerKeys } from './tokens/server-keys.ts'
import type { Group } from './workers/group.ts'

/** The parts of the process that stay the same when the configuration is reloaded. */
export interface ProcessParts
  extends Pick<
    Services,
    | 'version'
    | 'db'
    | 'signInLog'
    | 'requestLimits'
    | 'guesses'
    | 'revocationFeed'
    | 'wakeMessages'
    | 'now'
  > {
  readonly startedAt?: number | undefined
  readonly deliveries: Deliveries
  readonly telemetry: Telemetry
  readonly hashing: HashQueue
  readonly log: EventLog
  readonly checkers?: ChecksSettings['checkers']
  readonly passwordFormat?: WrittenFormat | undefined
  readonly group?: Group | undefined
}

/** Everything that was created from one configuration. A reload replaces it as a whole. */
export interface Generation extends AsyncDisposable {
  readonly services: Services
  /** Ready to handle requests. */
  readonly server: FastifyInstance
  /** Starts the background work: sending messages and deleting expired rows. */
  start(): void
  /** Signals that there are messages to send. */
  notify(): void
  /** Finishes sending messages. */
  drain(expired: AbortSignal): Promise<void>
}

/** @throws {Error} if the configuration cannot be used, for example to decrypt the stored keys. */
export async function openGeneration(parts: ProcessParts, config: Config): Promise<Generation> {
  const { db, log, now, telemetry, signInLog, group, requestLimits, guesses } = parts
  await using opening = new Resources()
  const keys = opening.use(await openServerKeys({ db, secrets: config.secrets, log }))
  const created = createServices({ ...parts, config, keys, limits: { requestLimits, guesses } })
  const services = { ...created, passwords: countPasswords(created.passwords, telemetry) }
  const server = createServer({
    endpoints,
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
  await server.ready()
  const resources = opening.move()
  let messages: OutboxSender | undefined
  return {
    services,
    server,
    start() {
      messages = resources.use(
        openMessages({
          config,
          db,
          log,
          hooks: services.hooks,
          renderer: services.mailRenderer,
          smsUrl: parts.checkers?.smsUrl,
          onAttempt: telemetry.countMessage,
          onGivenUp: telemetry.countGivenUp,
          deliverDeferred: (request) => sendDeferred(services, request),
        }),
      )
      // One worker is enough for the cleanup.
      if (!config.database.cleansUp || (group?.number ?? 1) !== 1) return
      resources.use(
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
          revocationsMs: config.tokens.revocationsKeptMs,
          onRound: telemetry.countCleanup,
        }),
      )
    },
    notify: () => messages?.notify(),
    drain: async (expired) => await messages?.drain(expired),
    [Symbol.asyncDispose]: () => resources[Symbol.asyncDispose](),
  }
}
