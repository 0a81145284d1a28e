import type { Lifecycle } from '@portcullis/service-kit/lifecycle'
import type { Log } from '@portcullis/service-kit/log'
import type { Config } from './config.ts'
import { openCleanup } from './core/cleanup.ts'
import { createServices } from './create-services.ts'
import { openDatabase } from './db/database.ts'
import { endpoints } from './endpoints/index.ts'
import { createServer } from './http/server.ts'
import { openMessages } from './messages/open-messages.ts'

export interface AppSettings {
  readonly config: Config
  readonly version: string
  /** Of a PostgreSQL that runs, with its tables in place. */
  readonly databaseUrl: string
  /** What PostgreSQL allows, where we know it. */
  readonly maxConnections?: number
  readonly log: Log
  readonly lifecycle: Lifecycle
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Hears of every statement: tests count them. */
  readonly onStatement?: (name: string) => void
}

export interface App {
  /** `http://host:port` */
  readonly url: string
}

/** Builds everything and knows everything. */
export async function openApp(settings: AppSettings): Promise<App> {
  const { config, log, lifecycle } = settings
  const db = lifecycle.own(
    'database',
    openDatabase({
      url: settings.databaseUrl,
      schema: config.database.namespace,
      maxPoolSize: config.database.maxPoolSize ?? settings.maxConnections,
      idleTimeoutMs: config.database.idleTimeoutMs,
      log,
      ...(settings.onStatement && { onStatement: settings.onStatement }),
    }),
  )
  const messages = lifecycle.own('messages', openMessages({ config, db, log }))
  if (config.database.cleansUp) {
    lifecycle.own(
      'cleanup',
      openCleanup({ db, log, now: settings.now, linkSeconds: config.mail.otpExpiresInSeconds }),
    )
  }
  const services = await createServices({
    ...settings,
    db,
    wakeMessages: () => messages.notify(),
  })
  const server = createServer({ endpoints, services, log })
  lifecycle.drain('HTTP listener', () => server.close())
  lifecycle.drain('messages', (expired) => messages.drain(expired))
  const url = await server.listen({
    port: config.api.port,
    host: config.api.host ?? '0.0.0.0',
  })
  log.info(`Listening on ${url}, version ${settings.version}`)
  return { url }
}
