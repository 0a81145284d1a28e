import type { Check } from '@portcullis/service-kit/config-check'
import {
  boolean,
  type Chapter,
  duration,
  hideCredentials,
  integer,
  type Settings,
  string,
} from '@portcullis/service-kit/env'
import { withOldNames } from './auth-name.ts'
import { checkDuration, oneDay } from './durations.ts'
import { checkPresent } from './required.ts'
import { unlessBlank } from './unless-blank.ts'

export const database = {
  title: 'Database',
  variables: withOldNames({
    driver: string('AUTH_DB_DRIVER', '', 'The kind of database: postgres'),
    url: string(
      'AUTH_DB_DATABASE_URL',
      '',
      'postgres://user:password@host:port/name, or embedded://FOLDER for a PostgreSQL of our own',
      { aliases: ['DATABASE_URL', 'AUTH_DATABASE_URL'], mask: hideCredentials },
    ),
    maxPoolSize: integer(
      'AUTH_DB_MAX_POOL_SIZE',
      0,
      'The most connections of each process; 0 sets no limit',
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
    cleansUp: boolean(
      'AUTH_DB_CLEANUP_ENABLED',
      true,
      'Whether rows that nobody needs any more are deleted',
    ),
  }),
} satisfies Chapter

export interface DatabaseConfig {
  readonly url: string
  /** Undefined: no limit of ours. */
  readonly maxPoolSize: number | undefined
  readonly namespace: string
  readonly idleTimeoutMs: number
  readonly cleansUp: boolean
}

export function toDatabase(
  settings: Settings<typeof database.variables>,
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
  } else if (/^postgres/.test(settings.url) && !isReadable(settings.url)) {
    check.fault(
      variables.url,
      'must be postgres://user:password@host:port/name, with a port of at most 65535; in user and ' +
        'password write %40 for @, %2F for /, %3A for :, %3F for ?, %23 for #',
    )
  }
  checkDuration(variables.idleTimeoutMs, settings.idleTimeoutMs, oneDay, check)
  if (settings.url === 'embedded://') {
    check.fault(variables.url, 'must name the folder: embedded://FOLDER')
  }
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(settings.namespace)) {
    check.fault(variables.namespace, 'must be letters, digits and _, and begin with no digit')
  }
  return {
    url: settings.url,
    maxPoolSize: settings.maxPoolSize || undefined,
    namespace: settings.namespace,
    idleTimeoutMs: settings.idleTimeoutMs,
    cleansUp: settings.cleansUp,
  }
}

/** As the driver reads it, to which a host may be missing: postgres://user@/name?host=/folder */
function isReadable(url: string): boolean {
  const encoded = url.replaceAll(' ', '%20')
  return URL.canParse(encoded) || URL.canParse(encoded.replace('@/', '@localhost/'))
}
