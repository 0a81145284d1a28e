import type { Check } from '@portcullis/service-kit/config-check'
import { parseDuration } from '@portcullis/service-kit/duration'
import {
  type Chapter,
  duration,
  hideCredentials,
  type Settings,
  string,
} from '@portcullis/service-kit/env'
import { checkHeaderName, tenYears } from './checks.ts'
import { type LimitService, parseLimitService } from './limit-service.ts'
import { noteIfOff, off, switchableLimit, unlessBlank, withOldNames } from './variables.ts'

export const limits = {
  title: 'Limits',
  variables: withOldNames({
    header: string(
      'AUTH_RATE_LIMIT_HEADER',
      '',
      'Header that holds the address of the client, or another value that requests are limited by; ' +
        'of several values the last one counts (AUTH_TRUSTED_HOPS)',
    ),
    emailSent: unlessBlank(
      string(
        'AUTH_RATE_LIMIT_EMAIL_SENT',
        '30',
        'Emails of the whole server: N an hour, or N/DURATION for N that come back one per duration; ' +
          '0: none at all, off: no limit',
      ),
    ),
    smsSent: unlessBlank(string('AUTH_RATE_LIMIT_SMS_SENT', '30', 'The same for text messages')),
    token: switchableLimit('AUTH_RATE_LIMIT_TOKEN_REFRESH', 150, 'Requests to /token in 5 minutes'),
    verify: switchableLimit('AUTH_RATE_LIMIT_VERIFY', 30, 'Requests to /verify in 5 minutes'),
    otp: switchableLimit(
      'AUTH_RATE_LIMIT_OTP',
      30,
      'Requests to each of /signup, /otp, /magiclink, /recover, /resend, PUT /user in 5 minutes',
    ),
    passkey: switchableLimit(
      'AUTH_RATE_LIMIT_PASSKEY',
      30,
      'Requests to /passkeys/authentication/options in 5 minutes',
    ),
    external: switchableLimit(
      'AUTH_RATE_LIMIT_EXTERNAL',
      150,
      'Requests to /authorize together with /user/identities/authorize, and to /callback together with ' +
        '/user/identities/confirm, in 5 minutes',
    ),
    anonymous: switchableLimit(
      'AUTH_RATE_LIMIT_ANONYMOUS_USERS',
      30,
      'Anonymous sign-ins in an hour',
    ),
    password: switchableLimit(
      'AUTH_RATE_LIMIT_PASSWORD',
      10,
      'Wrong passwords for one account from one address in 15 minutes; a right one clears them',
    ),
    passwordAccount: switchableLimit(
      'AUTH_RATE_LIMIT_PASSWORD_ACCOUNT',
      100,
      'Wrong passwords for one account from all addresses in an hour; addresses that the account ' +
        'was used from are exempt',
    ),
    codes: switchableLimit(
      'AUTH_RATE_LIMIT_CODES',
      30,
      'Messages with a code or link to one address or number in 24 hours, half of them at once',
    ),
    taken: switchableLimit(
      'AUTH_RATE_LIMIT_TAKEN',
      5,
      'Addresses and numbers of others that a signed-in user may try to change to in an hour',
    ),
    serviceUrl: string(
      'AUTH_RATE_LIMIT_SERVICE_URL',
      '',
      'Where processes count requests together: redis://user:password@host:port/db (also ' +
        'rediss://, redis+cluster://host:port,host:port, redis+sentinel://host:port/NAME), or ' +
        'grpc://host:port (grpcs://) of a rate limit service that has the domain auth',
      { mask: hideCredentials },
    ),
    serviceTimeoutMs: duration(
      'AUTH_RATE_LIMIT_SERVICE_TIMEOUT',
      '100ms',
      'How long its answer is waited for; then this process counts by itself',
    ),
  }),
} satisfies Chapter

export interface LimitsConfig {
  /** In lower case; undefined: the address of the connection. */
  readonly header: string | undefined
  readonly emailSent: MessageCap
  readonly smsSent: MessageCap
  /** 0 turns these limits off. */
  readonly token: number
  readonly verify: number
  readonly otp: number
  readonly passkey: number
  readonly external: number
  readonly anonymous: number
  readonly password: number
  readonly passwordAccount: number
  readonly codes: number
  readonly taken: number
  readonly serviceUrl: string | undefined
  /** What the URL says; undefined: this process counts by itself. */
  readonly service: LimitService | undefined
  readonly serviceTimeoutMs: number
}

/** So many messages in all: in a fixed hour, or in a bucket that refills by one each `refillMs`. */
export interface MessageCap {
  readonly most: number
  /** Undefined: a fixed hour. */
  readonly refillMs: number | undefined
}

/** Every request would wait as long. */
const longestServiceMs = 10_000

export function toLimits(settings: Settings<typeof limits.variables>, check: Check): LimitsConfig {
  const { variables } = limits
  const toCap = (variable: typeof variables.emailSent, text: string): MessageCap => {
    const cap = parseMessageCap(text)
    if (cap === undefined) {
      check.fault(variable, 'must be a number, number/duration or off: 30, 10/2m')
    }
    return cap ?? { most: 0, refillMs: undefined }
  }
  for (const name of [
    'token',
    'verify',
    'otp',
    'passkey',
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

/** As many as the table can count. */
const noCap: MessageCap = { most: 2 ** 31 - 1, refillMs: undefined }

/** Unlike a limit of requests, a cap of 0 sends nothing (reference 8.2). */
export function parseMessageCap(text: string): MessageCap | undefined {
  if (off.test(text)) return noCap
  const [, most, duration] = /^\s*(\d{1,9})\s*(?:\/\s*(\S+))?\s*$/.exec(text) ?? []
  if (most === undefined) return undefined
  if (duration === undefined) return { most: Number(most), refillMs: undefined }
  const refillMs = parseDuration(duration)
  if (refillMs === undefined || refillMs <= 0 || refillMs > tenYears.ms) return undefined
  return { most: Number(most), refillMs }
}
