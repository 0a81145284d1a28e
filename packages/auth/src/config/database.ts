import type { Check } from '@portcullis/service-kit/config-check'
import {
  boolean,
  type Chapter,
  choice,
  duration,
  type Environment,
  hideCredentials,
  integer,
  type Settings,
  string,
} from '@portcullis/service-kit/env'
import {
  type ConnectionUrl,
  parseConnectionUrl,
  withLibpqVariables,
} from '../db/connection/connection-url.ts'
import type { PreparedStatements } from '../db/prepared-statements.ts'
import { SettingError } from '../errors.ts'
import { checkDuration, checkPresent, oneDay, oneHour } from './checks.ts'
import { unlessBlank, withOldNames } from './variables.ts'

export const database = {
  title: 'Database',
  variables: withOldNames({
    driver: string('AUTH_DB_DRIVER', '', 'The kind of database: postgres'),
    url: string(
      'AUTH_DB_DATABASE_URL',
      '',
      'postgres://user:password@host:port/name, with several hosts and the parameters of libpq; or embedded://FOLDER for a PostgreSQL of our own',
      { aliases: ['DATABASE_URL', 'AUTH_DATABASE_URL'], mask: hideCredentials },
    ),
    maxPoolSize: integer(
      'AUTH_DB_MAX_POOL_SIZE',
      0,
      'The most connections of each process; 0: no fixed limit, but AUTH_DB_CONN_PERCENTAGE',
    ),
    maxIdlePoolSize: integer(
      'AUTH_DB_MAX_IDLE_POOL_SIZE',
      0,
      'The most connections of each process that are kept while nobody needs them; 0: all, for AUTH_DB_CONN_MAX_IDLE_TIME',
    ),
    connectionPercentage: integer(
      'AUTH_DB_CONN_PERCENTAGE',
      50,
      'How much of the connections that PostgreSQL allows all processes together may take; without effect where AUTH_DB_MAX_POOL_SIZE is set',
      { min: 1, max: 100 },
    ),
    preparedStatements: choice(
      'AUTH_DB_PREPARED_STATEMENTS',
      ['auto', 'on', 'off'],
      'auto',
      'Whether statements are prepared once for each connection; auto: unless a connection pooler is in between',
    ),
    namespace: unlessBlank(
      string('AUTH_DB_NAMESPACE', 'auth', 'The schema that holds all tables', {
        aliases: ['DB_NAMESPACE'],
      }),
    ),
    idleTimeoutMs: duration(
      'AUTH_DB_CONN_MAX_IDLE_TIME',
      '30s',
      'How long a connection that nobody needs is kept',
    ),
    maxLifetimeMs: duration(
      'AUTH_DB_CONN_MAX_LIFETIME',
      '1h',
      'After how long a connection is replaced by a new one; 0: never',
    ),
    cleansUp: boolean(
      'AUTH_DB_CLEANUP_ENABLED',
      true,
      'Whether rows that nobody needs any more are deleted',
    ),
  }),
} satisfies Chapter

export interface DatabaseConfig {
  /** Includes the parameters that libpq reads from the environment. */
  readonly url: string
  /** Undefined: what `connectionPercentage` allows. */
  readonly maxPoolSize: number | undefined
  /** 0: no limit. */
  readonly maxIdlePoolSize: number
  readonly connectionPercentage: number
  readonly preparedStatements: PreparedStatements
  /** 0: no limit. */
  readonly maxLifetimeMs: number
  readonly namespace: string
  readonly idleTimeoutMs: number
  readonly cleansUp: boolean
}

export function toDatabase(
  settings: Settings<typeof database.variables>,
  environment: Environment,
  check: Check,
): DatabaseConfig {
  const { variables } = database
  const driver = settings.driver.trim()
  checkPresent(variables.driver, driver, check)
  if (driver !== '' && driver !== 'postgres') {
    check.fault(variables.driver, 'must be postgres, the only one there is')
  }
  checkPresent(variables.url, settings.url, check)
  if (settings.url !== '' && !/^(?:postgres|postgresql|embedded):\/\//.test(settings.url)) {
    check.fault(variables.url, 'must begin with postgres:// or embedded://')
  }
  const url = toUrl(settings.url, environment, check)
  checkDuration(variables.idleTimeoutMs, settings.idleTimeoutMs, oneDay, check)
  if (settings.maxPoolSize > 0 && check.isSet(variables.connectionPercentage)) {
    const name = check.nameOf(variables.connectionPercentage)
    check.note(`${name} has no effect: ${check.nameOf(variables.maxPoolSize)} is set`)
  }
  checkDuration(variables.maxLifetimeMs, settings.maxLifetimeMs, oneDay, check)
  if (settings.url === 'embedded://') {
    check.fault(variables.url, 'must name the folder: embedded://FOLDER')
  }
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(settings.namespace)) {
    check.fault(variables.namespace, 'must be letters, digits and _, and begin with no digit')
  }
  return {
    url,
    maxPoolSize: settings.maxPoolSize || undefined,
    maxIdlePoolSize: settings.maxIdlePoolSize,
    connectionPercentage: settings.connectionPercentage,
    preparedStatements: settings.preparedStatements,
    maxLifetimeMs: settings.maxLifetimeMs,
    namespace: settings.namespace,
    idleTimeoutMs: settings.idleTimeoutMs,
    cleansUp: settings.cleansUp,
  }
}

function toUrl(written: string, environment: Environment, check: Check): string {
  if (!/^postgres(?:ql)?:\/\//.test(written)) return written
  const { url: variable } = database.variables
  let url: string
  let parsed: ConnectionUrl
  try {
    url = withLibpqVariables(written, environment)
    parsed = parseConnectionUrl(url)
  } catch (error) {
    if (!(error instanceof SettingError)) throw error
    check.fault(variable, error.message)
    return written
  }
  if (parsed.session === 'read-only' || parsed.session === 'standby') {
    check.fault(
      variable,
      `target_session_attrs=${parsed.session} does not work here: every sign-in writes; use read-write`,
    )
  }
  for (const name of parsed.ignored) {
    check.note(`${check.nameOf(variable)}: the parameter ${name} has no effect`)
  }
  return url
}

export const migrations = {
  title: 'Migrations',
  variables: withOldNames({
    waitMs: duration(
      'AUTH_DB_MIGRATION_WAIT',
      '10m',
      'How long migrations wait for another process that applies them, and for locks on tables',
    ),
    lockTimeoutMs: duration(
      'AUTH_DB_MIGRATION_LOCK_TIMEOUT',
      '2s',
      'How long a migration waits for a lock, with requests waiting behind it, before it lets them ' +
        'pass and tries again',
    ),
  }),
} satisfies Chapter

export interface MigrationsConfig {
  readonly waitMs: number
  readonly lockTimeoutMs: number
}

export function toMigrations(
  settings: Settings<typeof migrations.variables>,
  check: Check,
): MigrationsConfig {
  const { variables } = migrations
  checkDuration(variables.waitMs, settings.waitMs, oneDay, check)
  checkDuration(variables.lockTimeoutMs, settings.lockTimeoutMs, oneHour, check)
  if (settings.lockTimeoutMs < 1) {
    check.fault(variables.lockTimeoutMs, 'must be at least 1ms: without a limit everybody waits')
  }
  return settings
}
