import type { Check } from '@portcullis/service-kit/settings/config-check'
import { parseDuration } from '@portcullis/service-kit/settings/duration'
import {
  type Chapter,
  duration,
  hideCredentials,
  type Settings,
  string,
} from '@portcullis/service-kit/settings/env'
import { checkHeaderName, tenYears } from '../checks.ts'
import { noteIfOff, off, switchableLimit, unlessBlank, withOldNames } from '../variables.ts'
import { type LimitServiceAddress, parseLimitService } from './service-address.ts'

export const limits = {
  title: 'Limits',
  variables: withOldNames({
    header: string(
      'AUTH_RATE_LIMIT_HEADER',
      '',
      'Header with the address of the client, or with another value by which requests are limited; ' +
        'if it has several values, the last is used (see AUTH_TRUSTED_HOPS)',
    ),
    emailSent: unlessBlank(
      string(
        'AUTH_RATE_LIMIT_EMAIL_SENT',
        '30',
        'Maximum number of emails of the whole server: N per hour, or N/DURATION for a burst of N that ' +
          'refills by one per duration; 0: send none, off: no limit',
      ),
    ),
    smsSent: unlessBlank(
      string('AUTH_RATE_LIMIT_SMS_SENT', '30', 'The same limit for text messages'),
    ),
    token: switchableLimit(
      'AUTH_RATE_LIMIT_TOKEN_REFRESH',
      150,
      'Requests to /token per 5 minutes',
    ),
    verify: switchableLimit('AUTH_RATE_LIMIT_VERIFY', 30, 'Requests to /verify per 5 minutes'),
    otp: switchableLimit(
      'AUTH_RATE_LIMIT_OTP',
      30,
      'Requests to each of /signup, /otp, /magiclink, /recover, /resend and PUT /user per 5 minutes',
    ),
    passkey: switchableLimit(
      'AUTH_RATE_LIMIT_PASSKEY',
      30,
      'Requests to /passkeys/authentication/options per 5 minutes',
    ),
    web3: switchableLimit('AUTH_RATE_LIMIT_WEB3', 30, 'Sign-ins with Web3 wallets per 5 minutes'),
    apiKeyVerify: switchableLimit(
      'AUTH_RATE_LIMIT_API_KEY_VERIFY',
      30_000,
      'Requests to /api-keys/verify per 5 minutes, for each token that sends them',
    ),
    apiKeyGuess: switchableLimit(
      'AUTH_RATE_LIMIT_API_KEY_GUESS',
      30,
      'Invalid API keys that /api-keys/verify receives from one address of a client (ip_address) per 5 minutes; counted ' +
        'separately for the checks of ext_authz',
    ),
    register: switchableLimit(
      'AUTH_RATE_LIMIT_O_AUTH_DYNAMIC_CLIENT_REGISTER',
      10,
      'Requests to /oauth/clients/register per 5 minutes',
    ),
    external: switchableLimit(
      'AUTH_RATE_LIMIT_EXTERNAL',
      150,
      'Requests per 5 minutes to /authorize and /user/identities/authorize together, and to /callback ' +
        'and /user/identities/confirm together',
    ),
    anonymous: switchableLimit(
      'AUTH_RATE_LIMIT_ANONYMOUS_USERS',
      30,
      'Anonymous sign-ins per hour',
    ),
    password: switchableLimit(
      'AUTH_RATE_LIMIT_PASSWORD',
      10,
      'Wrong passwords for one account from one address per 15 minutes; a correct one resets the count',
    ),
    passwordAccount: switchableLimit(
      'AUTH_RATE_LIMIT_PASSWORD_ACCOUNT',
      100,
      'Wrong passwords for one account from all addresses per hour; addresses from which the account ' +
        'was used before are exempt',
    ),
    codes: switchableLimit(
      'AUTH_RATE_LIMIT_CODES',
      30,
      'Messages with a code or link to one email address or phone number per 24 hours; at most half of them at once',
    ),
    taken: switchableLimit(
      'AUTH_RATE_LIMIT_TAKEN',
      5,
      'Attempts per hour of a signed-in user to change to an email address or phone number of another user',
    ),
    serviceUrl: string(
      'AUTH_RATE_LIMIT_SERVICE_URL',
      '',
      'Service in which processes share their request counts: redis://user:password@host:port/db (also ' +
        'rediss://, redis+cluster://host:port,host:port, redis+sentinel://host:port/NAME), or ' +
        'grpc://host:port (grpcs://) of a rate limit service with the domain auth',
      { mask: hideCredentials },
    ),
    serviceTimeoutMs: duration(
      'AUTH_RATE_LIMIT_SERVICE_TIMEOUT',
      '100ms',
      'Timeout for a request to that service; after it, the process uses its own counts',
    ),
  }),
} satisfies Chapter

export interface LimitsConfig {
  /** In lower case. Undefined: the address of the connection. */
  readonly header: string | undefined
  readonly emailSent: MessageCap
  readonly smsSent: MessageCap
  /** 0 disables a limit. */
  readonly token: number
  readonly verify: number
  readonly otp: number
  readonly passkey: number
  readonly web3: number
  readonly apiKeyVerify: number
  readonly apiKeyGuess: number
  readonly register: number
  readonly external: number
  readonly anonymous: number
  readonly password: number
  readonly passwordAccount: number
  readonly codes: number
  readonly taken: number
  readonly serviceUrl: string | undefined
  /** Parsed from the URL. Undefined: each process counts separately. */
  readonly service: LimitServiceAddress | undefined
  readonly serviceTimeoutMs: number
}

/**
 * The maximum number of messages: per fixed hour, or in a bucket that refills by one every
 * `refillMs`.
 */
export interface MessageCap {
  readonly most: number
  /** Undefined: a fixed hour. */
  readonly refillMs: number | undefined
}

/** Requests wait for the service, so its timeout is limited. */
const longestServiceMs = 10_000

export function toLimits(settings: Settings<typeof limits.variables>, check: Check): LimitsConfig {
  const { variables } = limits
  const toCap = (variable: typeof variables.emailSent, text: string): MessageCap => {
    const cap = parseMessageCap(text)
    if (cap === undefined) {
      check.fault(
        variable,
        'must be off, a number such as 30, or a number and a duration such as 10/2m',
      )
    }
    return cap ?? { most: 0, refillMs: undefined }
  }
  for (const name of [
    'token',
    'verify',
    'otp',
    'passkey',
    'web3',
    'apiKeyVerify',
    'apiKeyGuess',
    'register',
    'external',
    'anonymous',
    'password',
    'passwordAccount',
    'codes',
    'taken',
  ] as const) {
    noteIfOff(variables[name], settings[name], check)
  }
  const header = settings.header.trim()
  checkHeaderName(variables.header, header, check)
  const service = settings.serviceUrl === '' ? undefined : parseLimitService(settings.serviceUrl)
  if (service && 'fault' in service) check.fault(variables.serviceUrl, service.fault)
  if (settings.serviceTimeoutMs < 1 || settings.serviceTimeoutMs > longestServiceMs) {
    check.fault(variables.serviceTimeoutMs, 'must be between 1ms and 10s')
  }
  return {
    ...settings,
    header: header.toLowerCase() || undefined,
    emailSent: toCap(variables.emailSent, settings.emailSent),
    smsSent: toCap(variables.smsSent, settings.smsSent),
    serviceUrl: settings.serviceUrl || undefined,
    service: service && 'fault' in service ? undefined : service,
  }
}

/** The maximum that the column in the database can count. */
const noCap: MessageCap = { most: 2 ** 31 - 1, refillMs: undefined }

/** Unlike a request limit, a cap of 0 means that nothing is sent. */
export function parseMessageCap(text: string): MessageCap | undefined {
  if (off.test(text)) return noCap
  const [, most, duration] = /^\s*(\d{1,9})\s*(?:\/\s*(\S+))?\s*$/.exec(text) ?? []
  if (most === undefined) return undefined
  if (duration === undefined) return { most: Number(most), refillMs: undefined }
  const refillMs = parseDuration(duration)
  if (refillMs === undefined || refillMs <= 0 || refillMs > tenYears.ms) return undefined
  return { most: Number(most), refillMs }
}
