import { createHmac } from 'node:crypto'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { toAllowedHosts, toLocalHost, toShownBase } from '../addresses.ts'
import type { StartPart, UpContext } from '../part.ts'
import { replaceFile } from '../private-files.ts'
import { toSigningKey } from '../secrets.ts'
import { startService } from '../service-process.ts'

/** A file in the data folder. The auth server's commands look for it under this name. */
export const authFile = 'auth.env'

/** Starts the auth server with an embedded PostgreSQL. */
export const startAuth: StartPart = (context) => {
  const env = {
    ...toBasics(context),
    ...developmentLimits,
    ...waysToSignIn,
    ...otherSoftware,
    ...toPasskeys(context),
    ...(context.has.has('mailbox') ? toMessages(context) : withoutMessages),
  }
  // Written for commands such as `auth admin`, which need the same configuration.
  replaceFile(join(context.folder, authFile), toEnvFile(env))
  return startService(context, {
    part: 'auth',
    packageName: '@portcullis/auth',
    args: ['up'],
    env,
    isReady: (line) => line.includes('"Listening on '),
  })
}

function toEnvFile(env: Variables): string {
  const lines = Object.entries(env).map(
    ([name, value]) => `${name}="${value.replaceAll(/["\\]/g, '\\$&')}"\n`,
  )
  return `# Made by portcullis up at each start: the configuration of its auth server.\n${lines.join('')}`
}

type Variables = Readonly<Record<string, string>>

function toBasics(context: UpContext): Variables {
  const { host, ports, folder, secrets, allowedHosts } = context
  const shown = toShownBase(context)
  const site = `${shown}:${ports.console}`
  // A browser that opened the console under another host name is redirected back to that name.
  const others = ['localhost', '127.0.0.1', ...toAllowedHosts(context, allowedHosts)]
  const sites = [site, ...others.map((name) => `http://${name}:${ports.console}`)]
  return {
    AUTH_API_HOST: host,
    AUTH_API_PORT: `${ports.auth}`,
    AUTH_API_EXTERNAL_URL: `${shown}:${ports.auth}`,
    AUTH_SITE_URL: `${site}/try`,
    AUTH_URI_ALLOW_LIST: [...new Set(sites)].map((each) => `${each}/**`).join(','),
    AUTH_DB_DRIVER: 'postgres',
    AUTH_DB_DATABASE_URL: `embedded://${join(folder, 'database')}`,
    AUTH_JWT_SECRET: secrets.jwtSecret,
    AUTH_JWT_KEYS: JSON.stringify([toSigningKey(secrets)]),
    AUTH_SECRETS_KEY: toSecretsKey(secrets),
    AUTH_JWT_AUD: 'authenticated',
    AUTH_JWT_DEFAULT_GROUP_NAME: 'authenticated',
    AUTH_WORKERS: '1',
    // The start waits for a line in the log.
    AUTH_LOG_LEVEL: 'info',
    AUTH_LOG_FILE: '',
    AUTH_DRAIN_TIMEOUT: '500ms',
  }
}

/** Derived from the JWT secret, because data folders of earlier versions contain no other secret. */
function toSecretsKey({ jwtSecret }: UpContext['secrets']): string {
  return createHmac('sha256', jwtSecret).update('AUTH_SECRETS_KEY').digest('base64url')
}

/**
 * The default limits protect against guessing and spam. Here all requests come from one developer and their
 * tests, and no message leaves the machine.
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

/** The sign-in methods that need no external service. */
const waysToSignIn: Variables = {
  AUTH_EXTERNAL_EMAIL_ENABLED: 'true',
  AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
  AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
  AUTH_PASSKEY_ENABLED: 'true',
  AUTH_WEBAUTHN_RP_DISPLAY_NAME: 'Portcullis',
  AUTH_MFA_WEB_AUTHN_ENROLL_ENABLED: 'true',
  AUTH_MFA_WEB_AUTHN_VERIFY_ENABLED: 'true',
}

/** Other applications and programs can use the accounts. SAML is off, because it needs a key that companies know. */
const otherSoftware: Variables = {
  AUTH_OAUTH_SERVER_ENABLED: 'true',
  AUTH_API_KEYS_ENABLED: 'true',
}

/** Browsers do not support passkeys for IP addresses; in that case they work under `localhost` only. */
function toPasskeys(context: UpContext): Variables {
  const { hostname } = new URL(toShownBase(context))
  if (isIP(hostname.replaceAll(/[[\]]/g, '')) === 0) return {}
  return {
    AUTH_WEBAUTHN_RP_ID: 'localhost',
    AUTH_WEBAUTHN_RP_ORIGINS: `http://localhost:${context.ports.console}`,
  }
}

/** Sends all messages to the mailbox. */
function toMessages({ host, ports, secrets }: UpContext): Variables {
  const localHost = toLocalHost(host)
  return {
    AUTH_MAILER_AUTOCONFIRM: 'false',
    AUTH_SMTP_HOST: localHost.replaceAll(/[[\]]/g, ''),
    AUTH_SMTP_PORT: `${ports.smtp}`,
    AUTH_SMTP_USER: '',
    AUTH_SMTP_PASS: '',
    AUTH_SMTP_ADMIN_EMAIL: 'auth@portcullis.example',
    AUTH_SMTP_SENDER_NAME: 'Portcullis',
    AUTH_EXTERNAL_PHONE_ENABLED: 'true',
    AUTH_SMS_AUTOCONFIRM: 'false',
    AUTH_SMS_PROVIDER: 'webhook',
    AUTH_SMS_WEBHOOK_URL: `http://${localHost}:${ports.sms}/`,
    AUTH_SMS_WEBHOOK_SECRET: secrets.smsSecret,
    // The default of one minute is too short to find the code in another window.
    AUTH_SMS_OTP_EXP: '600',
    AUTH_MFA_PHONE_ENROLL_ENABLED: 'true',
    AUTH_MFA_PHONE_VERIFY_ENABLED: 'true',
  }
}

/** Without a mailbox no confirmation message could be received, so accounts are confirmed automatically. */
const withoutMessages: Variables = { AUTH_MAILER_AUTOCONFIRM: 'true' }
