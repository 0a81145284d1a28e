import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  boolean,
  type Chapter,
  duration,
  integer,
  map,
  type Settings,
  string,
} from '@portcullis/service-kit/settings/env'
import { parsePhone } from '../../addresses.ts'
import {
  checkDuration,
  checkTextTemplate,
  checkWebUrl,
  tenYears,
  tenYearsInSeconds,
} from '../../config/checks.ts'
import { toAlternatives, unlessBlank, withOldNames } from '../../config/variables.ts'
import { ApiError } from '../../errors.ts'
import type { Gateway, TextChannel } from './gateway.ts'
import { gateways, type SmsGatewayName } from './index.ts'

const gatewayEntries: readonly (readonly [string, Gateway])[] = Object.entries(gateways)

const gatewayNames = gatewayEntries.map(([name, { otherNames = [] }]) =>
  otherNames.length === 0 ? name : `${name} (also ${otherNames.join(', ')})`,
)

const ownVariables = withOldNames({
  autoconfirm: boolean(
    'AUTH_SMS_AUTOCONFIRM',
    false,
    'Whether phone numbers count as confirmed without a code',
  ),
  maxFrequencyMs: duration(
    'AUTH_SMS_MAX_FREQUENCY',
    '60s',
    'Minimum interval between two text messages to the same phone number',
    { bareSeconds: true, defaultText: '60' },
  ),
  otpExpiresInSeconds: integer('AUTH_SMS_OTP_EXP', 60, 'Lifetime of codes, in seconds', {
    min: 1,
    max: tenYearsInSeconds,
  }),
  otpLength: integer('AUTH_SMS_OTP_LENGTH', 6, 'Number of digits in a code, from 6 to 10'),
  provider: string('AUTH_SMS_PROVIDER', '', `The SMS gateway: ${toAlternatives(gatewayNames)}`, {
    defaultText: 'none',
  }),
  template: unlessBlank(
    string(
      'AUTH_SMS_TEMPLATE',
      'Your code is {{ .Code }}',
      'Text of the message that contains the code',
    ),
  ),
  testOtp: map(
    'AUTH_SMS_TEST_OTP',
    'Phone numbers for tests, each with its fixed code: 15550100:123456. Nothing is sent to them',
    { mask: (text) => text.replace(/:[^,]*/g, ':*****') },
  ),
  testOtpValidUntil: string(
    'AUTH_SMS_TEST_OTP_VALID_UNTIL',
    '',
    'Time at which the test codes expire: 2030-01-31T12:00:00Z',
    { defaultText: 'never' },
  ),
})

/** The variables of all gateways, by `name.setting`. */
const gatewayVariables = withOldNames(
  Object.fromEntries(
    gatewayEntries.flatMap(([name, { variables }]) =>
      Object.entries(variables).map(([key, variable]) => [`${name}.${key}`, variable] as const),
    ),
  ),
)

export const sms: Chapter<typeof ownVariables> = {
  title: 'Text messages',
  variables: { ...ownVariables, ...gatewayVariables },
}

type SmsSettings = Settings<typeof ownVariables>

export interface SmsConfig extends Omit<SmsSettings, 'testOtp' | 'testOtpValidUntil'> {
  readonly gateway: SmsGateway
  readonly testCodes: TestCodes
}

/** The configured gateway, or why no message can be sent. */
export type SmsGateway =
  | {
      readonly isReady: true
      readonly name: SmsGatewayName
      readonly channels: readonly TextChannel[]
      /** The settings of this gateway. */
      readonly settings: Readonly<Record<string, string>>
    }
  | {
      readonly isReady: false
      readonly isKnown: boolean
      readonly channels: readonly TextChannel[]
      readonly problem: string
    }

/** Used if a hook sends all messages; AUTH_SMS_PROVIDER has no effect then. */
const throughHook: SmsGateway = { isReady: true, name: 'webhook', channels: ['sms'], settings: {} }

/** Phone numbers with a fixed code, to which nothing is sent. */
export interface TestCodes {
  readonly byPhone: ReadonlyMap<string, string>
  /** Milliseconds since the epoch. */
  readonly validUntilMs: number
}

/** Whether and for what text messages are used. */
export interface SmsUse {
  readonly isUsed: boolean
  /** Whether a hook sends the messages. */
  readonly isHooked: boolean
  /** Whether codes for phone factors are sent. */
  readonly isSecondFactor: boolean
  /** Whether the server starts without the settings of its gateway, as Supabase Auth does. */
  readonly isUpstream: boolean
}

export function toSms(settings: SmsSettings, use: SmsUse, check: Check): SmsConfig {
  const { autoconfirm, maxFrequencyMs, otpExpiresInSeconds, template } = settings
  const { otpLength, testOtp, testOtpValidUntil } = settings
  const { variables } = sms
  const isLengthRight = otpLength >= 6 && otpLength <= 10
  if (!isLengthRight)
    check.note(`${check.nameOf(variables.otpLength)} must be from 6 to 10: 6 is used`)
  checkTextTemplate(variables.template, template, check)
  checkGatewayUrls(settings, check)
  checkDuration(variables.maxFrequencyMs, maxFrequencyMs, tenYears, check)
  const provider = toGatewayName(settings.provider)
  const gateway = use.isHooked ? throughHook : findGateway(provider, settings)
  if (!gateway.isReady)
    checkGateway(gateway, { autoconfirm, provider }, testOtp.size > 0, use, check)
  if (testOtp.size > 0 && testOtpValidUntil === '') {
    const names = [variables.testOtp, variables.testOtpValidUntil].map(check.nameOf)
    check.note(
      `${names[0]} lets anyone who knows its codes sign in, and without ${names[1]} they never expire`,
    )
  }
  return {
    autoconfirm,
    maxFrequencyMs,
    otpExpiresInSeconds,
    template,
    provider,
    otpLength: isLengthRight ? otpLength : 6,
    gateway,
    testCodes: {
      byPhone: toCodesByPhone(testOtp, check),
      validUntilMs: parseValidUntil(testOtpValidUntil, check),
    },
  }
}

/**
 * Reports a gateway that cannot send: an error if its name is unknown or messages must be sent, and
 * a warning otherwise, because phone sign-in may be set up later or be used with test codes only.
 * In upstream mode it is always a warning: Supabase Auth starts with such a gateway, and its compose
 * files pass empty settings.
 */
function checkGateway(
  gateway: Extract<SmsGateway, { isReady: false }>,
  { provider, autoconfirm }: Pick<SmsSettings, 'provider' | 'autoconfirm'>,
  hasTestCodes: boolean,
  use: SmsUse,
  check: Check,
): void {
  const { provider: variable } = sms.variables
  const name = check.nameOf(variable)
  const mustSend = !hasTestCodes && (use.isSecondFactor || (use.isUsed && !autoconfirm))
  if (provider === '') {
    const isMissed = (use.isUsed || use.isSecondFactor) && !hasTestCodes
    if (isMissed) check.note(`${name} is not set. No text message can be sent`)
  } else if (!gateway.isKnown) {
    const names = Object.keys(gateways).join(', ')
    if (!use.isUpstream) check.fault(variable, `must be one of: ${names}`)
    else check.note(`${name} must be one of: ${names}. No text message can be sent`)
  } else if (mustSend && !use.isUpstream) {
    check.fault(variable, `cannot send text messages: ${gateway.problem}`)
  } else {
    check.note(`${name} is ${provider}: ${gateway.problem}. No text message can be sent`)
  }
}

/** The name in the spelling of `gateways`; other names are returned in lower case. */
function toGatewayName(text: string): string {
  const name = text.trim().toLowerCase()
  return gatewayEntries.find(([, { otherNames }]) => otherNames?.includes(name))?.[0] ?? name
}

function findGateway(name: string, settings: SmsSettings): SmsGateway {
  if (!isGatewayName(name)) {
    const problem = `sms Provider ${name} could not be found`
    return { isReady: false, isKnown: false, channels: ['sms'], problem }
  }
  const { channels, required }: Gateway = gateways[name]
  const values = readGatewaySettings(name, settings)
  const missing = Object.entries(required).find(([key]) => values[key] === '')
  if (missing?.[1] !== undefined)
    return { isReady: false, isKnown: true, channels, problem: missing[1] }
  return { isReady: true, name, channels, settings: values }
}

function isGatewayName(text: string): text is SmsGatewayName {
  return Object.hasOwn(gateways, text)
}

function readGatewaySettings(
  name: SmsGatewayName,
  settings: SmsSettings,
): Readonly<Record<string, string>> {
  const values: Readonly<Record<string, unknown>> = settings
  const keys = Object.keys(gateways[name].variables)
  return Object.fromEntries(keys.map((key) => [key, `${values[`${name}.${key}`]}`]))
}

function checkGatewayUrls(settings: SmsSettings, check: Check): void {
  const values: Readonly<Record<string, unknown>> = settings
  for (const [name, { webUrls = [] }] of gatewayEntries) {
    for (const key of webUrls) {
      const variable = gatewayVariables[`${name}.${key}`]
      if (variable !== undefined) checkWebUrl(variable, `${values[`${name}.${key}`]}`, check)
    }
  }
}

function toCodesByPhone(
  codes: ReadonlyMap<string, string>,
  check: Check,
): ReadonlyMap<string, string> {
  const byPhone = new Map<string, string>()
  for (const [text, code] of codes) {
    try {
      byPhone.set(parsePhone(text), code.trim())
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      check.fault(sms.variables.testOtp, `${text} is not a phone number in E.164 format`)
    }
    if (code.trim() === '') check.fault(sms.variables.testOtp, `${text} has no code`)
  }
  return byPhone
}

function parseValidUntil(text: string, check: Check): number {
  if (text === '') return Number.POSITIVE_INFINITY
  const isWhole = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d)$/.test(
    text,
  )
  const ms = isWhole ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(ms)) return ms
  check.fault(
    sms.variables.testOtpValidUntil,
    'must be a time with a time zone: 2030-01-31T12:00:00Z',
  )
  return Number.NEGATIVE_INFINITY
}
