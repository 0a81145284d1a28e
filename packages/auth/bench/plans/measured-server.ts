import { createLog } from '@portcullis/service-kit/log/log'
import { openLifecycle } from '@portcullis/service-kit/process/lifecycle'
import { openApp } from '../../src/app.ts'
import { parseConfig } from '../../src/config/config.ts'
import { createBcrypt } from '../../src/passwords/formats/bcrypt.ts'
import { portcullisOnly, toEnvironment } from '../servers/environment.ts'

/** Removes the limits. Messages stay in the outbox, because no mail server listens on port 1. */
const environment = {
  AUTH_MAILER_AUTOCONFIRM: 'false',
  AUTH_SMTP_ADMIN_EMAIL: 'auth@bench.example',
  AUTH_SMTP_HOST: '127.0.0.1',
  AUTH_SMTP_PORT: '1',
  AUTH_SMTP_MAX_FREQUENCY: '0',
  AUTH_RATE_LIMIT_EMAIL_SENT: '1000000',
  AUTH_RATE_LIMIT_VERIFY: '1000000000',
  AUTH_RATE_LIMIT_ANONYMOUS_USERS: '1000000000',
  AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
  AUTH_MFA_RATE_LIMIT_CHALLENGE_AND_VERIFY: '1000000000',
  AUTH_API_MAX_REQUEST_DURATION: '10m',
  AUTH_API_PORT: '0',
  // Cleanup is measured separately.
  AUTH_DB_CLEANUP_ENABLED: 'false',
  AUTH_LOG_LEVEL: 'error',
  // With one connection, each statement is prepared once and gets a generic plan.
  AUTH_DB_MAX_POOL_SIZE: '1',
}

/** Opens the server in this process, so that the plans of its statements can be captured. */
export async function openMeasuredServer(databaseUrl: string) {
  const { config, faults } = parseConfig({
    ...toEnvironment({ databaseUrl, port: 0 }),
    ...portcullisOnly,
    ...environment,
    GOTRUE_API_PORT: undefined,
    PORT: undefined,
  })
  if (faults.length > 0) throw new Error(JSON.stringify(faults))
  const log = createLog({ level: 'error', format: 'text', write: () => {} })
  const lifecycle = openLifecycle({
    log,
    process: { on: () => {}, off: () => {}, exit: () => {} },
    drainDelayMs: 0,
    drainTimeoutMs: 5_000,
  })
  const { url } = await openApp({
    config,
    version: '0.0.0-bench',
    databaseUrl,
    log,
    lifecycle,
    now: Date.now,
    passwordFormat: createBcrypt(4),
  })
  return {
    url,
    async [Symbol.asyncDispose]() {
      lifecycle.stop('SIGINT')
      await lifecycle.ended
    },
  }
}
