import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { toOwnHost, toShownHost } from '../addresses.ts'
import type { StartPart, World } from '../part.ts'
import { startService } from '../service-process.ts'

/** The auth server, on a PostgreSQL of its own. */
export const startAuth: StartPart = (world) =>
  startService(world, {
    part: 'auth',
    packageName: '@portcullis/auth',
    args: ['up'],
    env: {
      ...toBasics(world),
      ...developmentLimits,
      ...waysToSignIn,
      ...(world.has.has('mailbox') ? toMessages(world) : withoutMessages),
    },
    isReady: (line) => line.includes('"Listening on '),
  })

type Variables = Readonly<Record<string, string>>

function toBasics({ host, ports, folder, secrets }: World): Variables {
  const shown = toShownHost(host)
  const site = `http://${shown}:${ports.console}`
  return {
    AUTH_API_HOST: host,
    AUTH_API_PORT: `${ports.auth}`,
    AUTH_API_EXTERNAL_URL: `http://${shown}:${ports.auth}`,
    AUTH_SITE_URL: `${site}/try`,
    // Who opens the console by the other name of this machine comes back to it.
    AUTH_URI_ALLOW_LIST: `${site}/**,http://127.0.0.1:${ports.console}/**`,
    AUTH_DB_DRIVER: 'postgres',
    AUTH_DB_DATABASE_URL: `embedded://${join(folder, 'database')}`,
    AUTH_JWT_SECRET: secrets.jwtSecret,
    AUTH_SECRETS_KEY: toSecretsKey(secrets),
    AUTH_JWT_AUD: 'authenticated',
    AUTH_JWT_DEFAULT_GROUP_NAME: 'authenticated',
    AUTH_WORKERS: '1',
    // What we wait for stands in the log.
    AUTH_LOG_LEVEL: 'info',
    AUTH_LOG_FILE: '',
    AUTH_DRAIN_TIMEOUT: '500ms',
  }
}

/** Derived from the JWT secret, because folders of earlier versions hold no other secret. */
function toSecretsKey({ jwtSecret }: World['secrets']): string {
  return createHmac('sha256', jwtSecret).update('AUTH_SECRETS_KEY').digest('base64url')
}

/**
 * The usual ones stop strangers who guess and who send mail in other people's name. Here all requests
 * come from the one person who tries things out, and from their tests, and no message leaves the machine.
 */
const developmentLimits: Variables = {
  AUTH_SMTP_MAX_FREQUENCY: '1s',
  AUTH_SMS_MAX_FREQUENCY: '1s',
  AUTH_MFA_PHONE_MAX_FREQUENCY: '1s',
  AUTH_RATE_LIMIT_EMAIL_SENT: '100000',
  AUTH_RATE_LIMIT_SMS_SENT: '100000',
  AUTH_RATE_LIMIT_TOKEN_REFRESH: '100000',
  AUTH_RATE_LIMIT_VERIFY: '100000',
  AUTH_RATE_LIMIT_OTP: '100000',
  AUTH_RATE_LIMIT_PASSKEY: '100000',
  AUTH_RATE_LIMIT_ANONYMOUS_USERS: '100000',
  AUTH_MFA_RATE_LIMIT_CHALLENGE_AND_VERIFY: '100000',
}

/** All that need nothing from outside. */
const waysToSignIn: Variables = {
  AUTH_EXTERNAL_EMAIL_ENABLED: 'true',
  AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
  AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
  AUTH_PASSKEY_ENABLED: 'true',
  AUTH_WEBAUTHN_RP_DISPLAY_NAME: 'Portcullis',
  AUTH_MFA_WEB_AUTHN_ENROLL_ENABLED: 'true',
  AUTH_MFA_WEB_AUTHN_VERIFY_ENABLED: 'true',
}

/** Everything that would be sent goes to our own catcher. */
function toMessages({ host, ports, secrets }: World): Variables {
  const own = toOwnHost(host)
  return {
    AUTH_MAILER_AUTOCONFIRM: 'false',
    AUTH_SMTP_HOST: own.replaceAll(/[[\]]/g, ''),
    AUTH_SMTP_PORT: `${ports.smtp}`,
    AUTH_SMTP_USER: '',
    AUTH_SMTP_PASS: '',
    AUTH_SMTP_ADMIN_EMAIL: 'auth@portcullis.example',
    AUTH_SMTP_SENDER_NAME: 'Portcullis',
    AUTH_EXTERNAL_PHONE_ENABLED: 'true',
    AUTH_SMS_AUTOCONFIRM: 'false',
    AUTH_SMS_PROVIDER: 'webhook',
    AUTH_SMS_WEBHOOK_URL: `http://${own}:${ports.sms}/`,
    AUTH_SMS_WEBHOOK_SECRET: secrets.smsSecret,
    // A minute is short for somebody who looks for the code in another window.
    AUTH_SMS_OTP_EXP: '600',
    AUTH_MFA_PHONE_ENROLL_ENABLED: 'true',
    AUTH_MFA_PHONE_VERIFY_ENABLED: 'true',
  }
}

/** Nobody could sign in who waits for a message that is never sent. */
const withoutMessages: Variables = { AUTH_MAILER_AUTOCONFIRM: 'true' }
