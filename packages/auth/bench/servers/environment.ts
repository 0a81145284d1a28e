import { clientHeader } from '../load/requests.ts'

export const jwtSecret = 'the secret of the benchmark, which is longer than 32 bytes'
export const audience = 'authenticated'

export interface EnvironmentSettings {
  readonly databaseUrl: string
  readonly port: number
  /** The connections to PostgreSQL of one process. */
  readonly poolSize?: number
}

/** The connections to PostgreSQL of a server, which several workers share. */
export const serverPoolSize = 20

/** A limit that no machine can reach. */
const unlimited = '1000000000'

/**
 * Both servers know these names and get the same values. Limits are removed, addresses need no
 * confirmation, and only warnings are logged.
 */
export function toEnvironment({
  databaseUrl,
  port,
  poolSize = serverPoolSize,
}: EnvironmentSettings): Record<string, string> {
  return {
    GOTRUE_SITE_URL: 'http://127.0.0.1:3000',
    API_EXTERNAL_URL: `http://127.0.0.1:${port}`,
    GOTRUE_API_HOST: '127.0.0.1',
    GOTRUE_API_PORT: `${port}`,
    PORT: `${port}`,
    GOTRUE_DB_DRIVER: 'postgres',
    DATABASE_URL: databaseUrl,
    DB_NAMESPACE: 'auth',
    GOTRUE_DB_MAX_POOL_SIZE: `${poolSize}`,
    // By default Supabase Auth keeps two idle connections, and opens one for nearly every request.
    GOTRUE_DB_MAX_IDLE_POOL_SIZE: `${poolSize}`,
    GOTRUE_JWT_SECRET: jwtSecret,
    GOTRUE_JWT_EXP: '86400',
    GOTRUE_JWT_AUD: audience,
    GOTRUE_JWT_DEFAULT_GROUP_NAME: 'authenticated',
    GOTRUE_JWT_ADMIN_ROLES: 'service_role',
    GOTRUE_EXTERNAL_EMAIL_ENABLED: 'true',
    GOTRUE_MAILER_AUTOCONFIRM: 'true',
    GOTRUE_DISABLE_SIGNUP: 'false',
    GOTRUE_RATE_LIMIT_TOKEN_REFRESH: unlimited,
    GOTRUE_RATE_LIMIT_OTP: unlimited,
    GOTRUE_LOG_LEVEL: 'warn',
  }
}

/**
 * Without a header our server limits by address, while the peer does not limit at all. The mode is
 * the one of a configuration without GOTRUE_ names, which records deliveries of refresh tokens.
 */
export const portcullisOnly = { GOTRUE_RATE_LIMIT_HEADER: clientHeader, AUTH_COMPAT_MODE: 'auto' }
