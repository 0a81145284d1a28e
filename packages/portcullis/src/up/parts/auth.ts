import { join } from 'node:path'
import type { StartPart, World } from '../part.ts'
import { startService } from '../service-process.ts'

/** The auth server, on a PostgreSQL of its own. */
export const startAuth: StartPart = (world) =>
  startService({
    packageName: '@portcullis/auth',
    args: [],
    env: toEnvironment(world),
    isReady: (line) => line.includes('"Listening on '),
  })

function toEnvironment({ host, ports, folder, secrets, has }: World): Record<string, string> {
  const url = `http://localhost:${ports.auth}`
  const site = `http://localhost:${ports.console}`
  return {
    AUTH_API_HOST: host,
    AUTH_API_PORT: `${ports.auth}`,
    AUTH_API_EXTERNAL_URL: url,
    AUTH_SITE_URL: `${site}/try`,
    AUTH_URI_ALLOW_LIST: `${site}/**`,
    AUTH_DB_DRIVER: 'postgres',
    AUTH_DB_DATABASE_URL: `embedded://${join(folder, 'database')}`,
    AUTH_JWT_SECRET: secrets.jwtSecret,
    AUTH_JWT_AUD: 'authenticated',
    AUTH_JWT_DEFAULT_GROUP_NAME: 'authenticated',
    AUTH_LOG_LEVEL: 'info',
    AUTH_LOG_FILE: '',
    // Without a mailbox nobody could sign in who waits for a message.
    AUTH_MAILER_AUTOCONFIRM: `${!has.has('mailbox')}`,
  }
}
