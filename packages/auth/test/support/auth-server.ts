import type { TestContext } from 'node:test'
import { openLifecycle } from '@portcullis/service-kit/lifecycle'
import { createLog } from '@portcullis/service-kit/log'
import type { PostgresServer } from '@portcullis/test-servers'
import { type AppSettings, openApp } from '../../src/app.ts'
import { type Config, parseConfig } from '../../src/config/config.ts'
import { migrate } from '../../src/db/migrate/migrate.ts'
import { markDelivered } from '../../src/features/sessions/statements/sessions.ts'
import {
  claimMessages,
  deleteMessage,
  failMessage,
  releaseMessage,
  retryMessage,
} from '../../src/messages/statements/outbox.ts'
import { createBcrypt } from '../../src/passwords/formats/bcrypt.ts'
import { createTokenSigner } from '../../src/tokens/json-web-token.ts'
import { createSigningKeys } from '../../src/tokens/signing-keys.ts'
import { listKeys } from '../../src/tokens/statements.ts'
import { createFrozenClock, type FrozenClock } from './frozen-clock.ts'
import { openSharedPostgres } from './shared-postgres.ts'
import { openTestSchema } from './test-schema.ts'

export const jwtSecret = 'a secret of at least thirty-two bytes'

export const testEnvironment = {
  AUTH_SITE_URL: 'https://site.example',
  AUTH_API_EXTERNAL_URL: 'https://auth.example',
  AUTH_API_HOST: '127.0.0.1',
  AUTH_API_PORT: '0',
  AUTH_DB_DRIVER: 'postgres',
  AUTH_JWT_SECRET: jwtSecret,
  AUTH_SECRETS_KEY: 'a key of at least thirty-two characters',
  AUTH_MAILER_AUTOCONFIRM: 'true',
  // Tests run on busy machines.
  AUTH_API_MAX_REQUEST_DURATION: '60s',
} as const

export interface AuthServer {
  readonly url: string
  readonly databaseUrl: string
  readonly schema: string
  /** Names of the statements since the last call. */
  takeStatements(): readonly string[]
  readonly log: readonly string[]
  readonly clock: FrozenClock
  /** A token of the service itself, without a user. */
  readonly serviceToken: string
}

const cheapHashes = createBcrypt(4)

const backgroundStatements: ReadonlySet<string> = new Set([
  'write_sign_ins',
  'trim_sign_ins',
  listKeys.name,
  claimMessages.name,
  deleteMessage.name,
  retryMessage.name,
  releaseMessage.name,
  failMessage.name,
  markDelivered.name,
])

/** What runs beside the requests, at times that no test chooses. */
function isBackground(statement: string): boolean {
  return backgroundStatements.has(statement) || statement.startsWith('purge_')
}

export interface AuthServerOptions {
  readonly env?: Readonly<Record<string, string>>
  /** To share one with another server; a fresh one otherwise. */
  readonly database?: { readonly url: string; readonly schema: string }
  /** Where the server connects, when that is not the database itself: to a pooler, say. */
  readonly through?: string
  /** That of another server, where both are asked about the same rows. */
  readonly clock?: FrozenClock
  /** Who is asked about CAPTCHA tokens and leaked passwords. */
  readonly checkers?: AppSettings['checkers']
}

/** A server in this process, on a schema of its own. Undefined where PostgreSQL is missing. */
export async function openAuthServer(
  t: TestContext,
  { env = {}, database, through, clock = createFrozenClock(), checkers }: AuthServerOptions = {},
): Promise<AuthServer | undefined> {
  const postgres: Pick<PostgresServer, 'url'> | undefined =
    database ?? (await openSharedPostgres(t))
  if (!postgres) return undefined
  if (database) await migrate(database)
  const { name: schema, release } = database
    ? { name: database.schema, release: () => {} }
    : await openTestSchema(postgres.url)
  const { config, faults } = parseConfig({
    ...testEnvironment,
    DATABASE_URL: postgres.url,
    AUTH_DB_NAMESPACE: schema,
    ...env,
  })
  if (faults.length > 0)
    throw new Error(`The test's configuration is wrong: ${JSON.stringify(faults)}`)
  const log: string[] = []
  let statements: string[] = []
  const lifecycle = openLifecycle({
    log: createLog({ level: 'error', format: 'text', write: () => {} }),
    process: { on: () => {}, off: () => {}, exit: () => {} },
    drainDelayMs: 0,
    drainTimeoutMs: 5_000,
  })
  t.after(async () => {
    lifecycle.stop('SIGINT')
    await lifecycle.ended
    release()
  })
  const { url } = await openApp({
    config: withStandIns(config, env),
    version: '0.0.0-test',
    databaseUrl: through ?? postgres.url,
    log: createLog({ level: 'debug', format: 'text', write: (line) => log.push(line) }),
    lifecycle,
    now: () => clock.now(),
    checkers,
    // Who names a kind wants it; all others make users by the dozen.
    passwordFormat: env['AUTH_PASSWORD_HASH'] === undefined ? cheapHashes : undefined,
    onStatement: (name) => {
      if (!isBackground(name)) statements.push(name)
    },
  })
  const signer = createTokenSigner(
    createSigningKeys({ secret: jwtSecret, keyId: undefined, keys: undefined }),
  )
  return {
    url,
    databaseUrl: postgres.url,
    schema,
    log,
    clock,
    serviceToken: signer.sign({ role: 'service_role' }),
    takeStatements() {
      const taken = statements
      statements = []
      return taken
    },
  }
}

/** There is only one Google and one Apple, and no variable leads elsewhere; but none of them is here. */
function withStandIns(config: Config, env: Readonly<Record<string, string>>): Config {
  const standIn = (id: 'apple' | 'google') => ({
    ...config.external[id],
    url: env[`AUTH_EXTERNAL_${id.toUpperCase()}_URL`] ?? '',
  })
  return {
    ...config,
    external: { ...config.external, apple: standIn('apple'), google: standIn('google') },
  }
}
