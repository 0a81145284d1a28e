import type { TestContext } from 'node:test'
import { createLog } from '@portcullis/service-kit/log/log'
import { openLifecycle } from '@portcullis/service-kit/process/lifecycle'
import type { PostgresServer } from '@portcullis/test-servers'
import { type AppSettings, openApp } from '../../src/app.ts'
import { type Config, parseConfig } from '../../src/config/config.ts'
import { migrate } from '../../src/db/migrate/migrate.ts'
import { createBcrypt } from '../../src/passwords/formats/bcrypt.ts'
import { createTokenSigner } from '../../src/tokens/json-web-token.ts'
import { createSigningKeys } from '../../src/tokens/signing-keys.ts'
import { isBackgroundStatement } from './background-statements.ts'
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
  // Tests run on busy machines, so requests get more time.
  AUTH_API_MAX_REQUEST_DURATION: '60s',
} as const

export interface AuthServer {
  readonly url: string
  /** The port of the gRPC listener for ext_authz; undefined if it is off. */
  readonly checksPort: number | undefined
  readonly databaseUrl: string
  readonly schema: string
  /** Returns the names of the statements since the last call. */
  takeStatements(): readonly string[]
  readonly log: readonly string[]
  readonly clock: FrozenClock
  /** An access token with the service role and without a user. */
  readonly serviceToken: string
}

const cheapHashes = createBcrypt(4)

export interface AuthServerOptions {
  readonly env?: Readonly<Record<string, string>>
  /** A database to share with another server; by default a new schema is created. */
  readonly database?: { readonly url: string; readonly schema: string }
  /** The URL that the server connects to instead of the database, for example a pooler. */
  readonly through?: string
  /** The clock of another server that works on the same rows. */
  readonly clock?: FrozenClock
  /** The services that check CAPTCHA tokens and leaked passwords. */
  readonly checkers?: AppSettings['checkers']
  /**
   * The server shares the connections of PostgreSQL with the servers of the same name; a name of its own gives it
   * as many as a server that runs alone has.
   */
  readonly applicationName?: string
}

/**
 * Opens a server in this process with its own schema. Returns undefined if PostgreSQL is missing.
 */
export async function openAuthServer(
  t: TestContext,
  options: AuthServerOptions = {},
): Promise<AuthServer | undefined> {
  const { env = {}, database, through, clock = createFrozenClock(), checkers } = options
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
  const { url, checks } = await openApp({
    config: withStandIns(config, env),
    version: '0.0.0-test',
    databaseUrl: through ?? withName(postgres.url, options.applicationName),
    log: createLog({ level: 'debug', format: 'text', write: (line) => log.push(line) }),
    lifecycle,
    now: () => clock.now(),
    checkers,
    // Low-cost hashes keep tests fast, unless a test sets the hash format.
    passwordFormat: env['AUTH_PASSWORD_HASH'] === undefined ? cheapHashes : undefined,
    onStatement: (name) => {
      if (!isBackgroundStatement(name)) statements.push(name)
    },
  })
  const signer = createTokenSigner(
    createSigningKeys({ secret: jwtSecret, keyId: undefined, keys: undefined }),
  )
  return {
    url,
    checksPort: checks && 'port' in checks ? checks.port : undefined,
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

function withName(databaseUrl: string, applicationName: string | undefined): string {
  if (applicationName === undefined) return databaseUrl
  const url = new URL(databaseUrl)
  url.searchParams.set('application_name', applicationName)
  return url.href
}

/** Apple and Google have no URL setting, so tests replace their URLs in the configuration. */
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
