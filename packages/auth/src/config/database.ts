import type { Check } from '@portcullis/service-kit/settings/config-check'
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
} from '@portcullis/service-kit/settings/env'
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
    driver: string('AUTH_DB_DRIVER', '', 'Kind of database; only postgres is supported'),
    url: string(
      'AUTH_DB_DATABASE_URL',
      '',
      'postgres://user:password@host:port/name, which may have several hosts and libpq parameters, or embedded://DIR to run the embedded PostgreSQL',
      { aliases: ['DATABASE_URL', 'AUTH_DATABASE_URL'], mask: hideCredentials },
    ),
    maxPoolSize: integer(
      'AUTH_DB_MAX_POOL_SIZE',
      0,
      'Maximum number of connections per process; 0: AUTH_DB_CONN_PERCENTAGE applies instead',
    ),
    maxIdlePoolSize: integer(
      'AUTH_DB_MAX_IDLE_POOL_SIZE',
      0,
      'Maximum number of idle connections per process; 0: all are kept for AUTH_DB_CONN_MAX_IDLE_TIME',
    ),
    connectionPercentage: integer(
      'AUTH_DB_CONN_PERCENTAGE',
      50,
      'Percentage of the connections of PostgreSQL that all processes together may use; 0: the default; ignored if AUTH_DB_MAX_POOL_SIZE is set',
      { max: 100 },
    ),
    preparedStatements: choice(
      'AUTH_DB_PREPARED_STATEMENTS',
      ['auto', 'on', 'off'],
      'auto',
      'Whether statements are prepared once per connection; auto: on, unless a connection pooler is detected',
    ),
    namespace: unlessBlank(
      string('AUTH_DB_NAMESPACE', 'auth', 'Schema that contains all tables', {
        aliases: ['DB_NAMESPACE'],
      }),
    ),
    idleTimeoutMs: duration(
      'AUTH_DB_CONN_MAX_IDLE_TIME',
      '30s',
      'How long an idle connection is kept',
    ),
    maxLifetimeMs: duration(
      'AUTH_DB_CONN_MAX_LIFETIME',
      '1h',
      'Age at which a connection is replaced by a new one; 0: never',
    ),
    healthCheckMs: duration(
      'AUTH_DB_HEALTH_CHECK_PERIOD',
      '0',
      'How often idle connections are checked, so that broken ones are replaced before a request needs them; 0: never',
    ),
    cleansUp: boolean(
      'AUTH_DB_CLEANUP_ENABLED',
      true,
      'Whether expired rows are deleted periodically',
    ),
  }),
} satisfies Chapter

export interface DatabaseConfig {
  /** Includes the parameters that libpq would read from the environment. */
  readonly url: string
  /** Undefined: `connectionPercentage` determines it. */
  readonly maxPoolSize: number | undefined
  /** 0: no limit. */
  readonly maxIdlePoolSize: number
  readonly connectionPercentage: number
  readonly preparedStatements: PreparedStatements
  /** 0: no limit. */
  readonly maxLifetimeMs: number
  readonly namespace: string
  readonly idleTimeoutMs: number
  /** 0: idle connections are not checked. */
  readonly healthCheckMs: number
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
    check.fault(variables.driver, 'must be postgres, the only supported database')
  }
  checkPresent(variables.url, settings.url, check)
  if (settings.url !== '' && !/^(?:postgres|postgresql|embedded):\/\//.test(settings.url)) {
    check.fault(variables.url, 'must start with postgres:// or embedded://')
  }
  const url = toUrl(settings.url, environment, check)
  checkDuration(variables.idleTimeoutMs, settings.idleTimeoutMs, oneDay, check)
  if (settings.maxPoolSize > 0 && check.isSet(variables.connectionPercentage)) {
    const name = check.nameOf(variables.connectionPercentage)
    check.note(`${name} has no effect: ${check.nameOf(variables.maxPoolSize)} is set`)
  }
  checkDuration(variables.maxLifetimeMs, settings.maxLifetimeMs, oneDay, check)
  checkDuration(variables.healthCheckMs, settings.healthCheckMs, oneDay, check)
  if (settings.healthCheckMs > 0 && settings.healthCheckMs < 100) {
    check.fault(variables.healthCheckMs, 'must be at least 100ms, or 0')
  }
  if (settings.url === 'embedded://') {
    check.fault(variables.url, 'must name a folder: embedded://DIR')
  }
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(settings.namespace)) {
    check.fault(
      variables.namespace,
      'must consist of letters, digits and _, and must not start with a digit',
    )
  }
  return {
    url,
    maxPoolSize: settings.maxPoolSize || undefined,
    maxIdlePoolSize: settings.maxIdlePoolSize,
    connectionPercentage: settings.connectionPercentage || variables.connectionPercentage.default,
    preparedStatements: settings.preparedStatements,
    maxLifetimeMs: settings.maxLifetimeMs,
    namespace: settings.namespace,
    idleTimeoutMs: settings.idleTimeoutMs,
    healthCheckMs: settings.healthCheckMs,
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
      `target_session_attrs=${parsed.session} is not supported because every sign-in writes to the database; use read-write`,
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
      'How long to wait for another process that is applying migrations, and for table locks',
    ),
    lockTimeoutMs: duration(
      'AUTH_DB_MIGRATION_LOCK_TIMEOUT',
      '2s',
      'How long a migration waits for a table lock before it retries; requests to the table are ' +
        'blocked while it waits',
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
    check.fault(
      variables.lockTimeoutMs,
      'must be at least 1ms: without a limit, a migration could block all requests',
    )
  }
  return settings
}
