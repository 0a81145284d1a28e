import type { Check } from '@portcullis/service-kit/config-check'
import {
  type AnyVariable,
  boolean,
  type Chapter,
  duration,
  hideAll,
  integer,
  map,
  type Settings,
  string,
} from '@portcullis/service-kit/env'
import { ApiError } from '../errors.ts'
import { parsePhone } from '../features/users/addresses.ts'
import { parseTextTemplate, TemplateError } from '../messages/template/index.ts'
import { withOldNames } from './auth-name.ts'
import { checkDuration, tenYears, tenYearsInSeconds } from './durations.ts'
import type { ChannelUse } from './mail.ts'
import { checkWebUrl } from './required.ts'
import {
  findGateway,
  type SmsGateway,
  smsGateways,
  throughHook,
  toGatewayName,
} from './sms-gateways.ts'
import { unlessBlank } from './unless-blank.ts'

export const sms = {
  title: 'Text messages',
  variables: withOldNames({
    autoconfirm: boolean('AUTH_SMS_AUTOCONFIRM', false, 'Whether numbers count as confirmed'),
    maxFrequencyMs: duration(
      'AUTH_SMS_MAX_FREQUENCY',
      '60s',
      'The shortest time between two text messages to one number',
      { bareSeconds: true, defaultText: '60' },
    ),
    otpExpiresInSeconds: integer('AUTH_SMS_OTP_EXP', 60, 'How long codes are valid, in seconds', {
      min: 1,
      max: tenYearsInSeconds,
    }),
    otpLength: integer('AUTH_SMS_OTP_LENGTH', 6, 'Digits of a code, from 6 to 10'),
    provider: string(
      'AUTH_SMS_PROVIDER',
      '',
      'The gateway for text messages: twilio (also gatewaya), messagebird (also gatewayb), ' +
        'textlocal, vonage or webhook',
      { defaultText: 'none' },
    ),
    template: unlessBlank(
      string('AUTH_SMS_TEMPLATE', 'Your code is {{ .Code }}', 'The text of a message'),
    ),
    testOtp: map(
      'AUTH_SMS_TEST_OTP',
      'Numbers that are sent nothing, with the code that works for each: 15550100:123456',
      { mask: (text) => text.replace(/:[^,]*/g, ':*****') },
    ),
    testOtpValidUntil: string(
      'AUTH_SMS_TEST_OTP_VALID_UNTIL',
      '',
      'When these codes end: 2030-01-31T12:00:00Z',
      { defaultText: 'never' },
    ),
    twilioAccountSid: string('AUTH_SMS_GATEWAYA_ACCOUNT_SID', '', 'Account of Twilio', {
      aliases: ['AUTH_SMS_TWILIO_ACCOUNT_SID', 'GOTRUE_SMS_TWILIO_ACCOUNT_SID'],
    }),
    twilioAuthToken: string('AUTH_SMS_GATEWAYA_AUTH_TOKEN', '', 'Token of Twilio', {
      aliases: ['AUTH_SMS_TWILIO_AUTH_TOKEN', 'GOTRUE_SMS_TWILIO_AUTH_TOKEN'],
      mask: hideAll,
    }),
    twilioMessageServiceSid: string(
      'AUTH_SMS_GATEWAYA_MESSAGE_SERVICE_SID',
      '',
      'Message service of Twilio, or the number messages come from',
      {
        aliases: ['AUTH_SMS_TWILIO_MESSAGE_SERVICE_SID', 'GOTRUE_SMS_TWILIO_MESSAGE_SERVICE_SID'],
      },
    ),
    twilioContentSid: string(
      'AUTH_SMS_TWILIO_CONTENT_SID',
      '',
      'Template of Twilio for messages by WhatsApp; its first variable is the code',
    ),
    messagebirdAccessKey: string('AUTH_SMS_GATEWAYB_ACCESS_KEY', '', 'Key of MessageBird', {
      aliases: ['AUTH_SMS_MESSAGEBIRD_ACCESS_KEY', 'GOTRUE_SMS_MESSAGEBIRD_ACCESS_KEY'],
      mask: hideAll,
    }),
    messagebirdOriginator: string(
      'AUTH_SMS_GATEWAYB_ORIGINATOR',
      '',
      'Number with +, or name, that messages by MessageBird come from',
      { aliases: ['AUTH_SMS_MESSAGEBIRD_ORIGINATOR', 'GOTRUE_SMS_MESSAGEBIRD_ORIGINATOR'] },
    ),
    textlocalApiKey: string('AUTH_SMS_TEXTLOCAL_API_KEY', '', 'Key of Textlocal', {
      mask: hideAll,
    }),
    textlocalSender: string('AUTH_SMS_TEXTLOCAL_SENDER', '', 'Sender of messages by Textlocal'),
    vonageApiKey: string('AUTH_SMS_VONAGE_API_KEY', '', 'Key of Vonage', { mask: hideAll }),
    vonageApiSecret: string('AUTH_SMS_VONAGE_API_SECRET', '', 'Secret of Vonage', {
      mask: hideAll,
    }),
    vonageFrom: string('AUTH_SMS_VONAGE_FROM', '', 'Sender of messages by Vonage'),
    webhookUrl: string(
      'AUTH_SMS_WEBHOOK_URL',
      '',
      'Where messages are posted to as JSON, for a gateway of your own',
    ),
    webhookSecret: string('AUTH_SMS_WEBHOOK_SECRET', '', 'The bearer token of these requests', {
      mask: hideAll,
    }),
  }),
} satisfies Chapter

/** As they are set. */
export type SmsSettings = Settings<typeof sms.variables>

export interface SmsConfig extends Omit<SmsSettings, 'testOtp' | 'testOtpValidUntil'> {
  readonly gateway: SmsGateway
  readonly testCodes: TestCodes
}

/** Numbers that are sent nothing, and whose code is known. */
export interface TestCodes {
  readonly byPhone: ReadonlyMap<string, string>
  /** Milliseconds since the epoch. */
  readonly validUntilMs: number
}

export interface SmsUse extends ChannelUse {
  /** Whether codes of phone factors are sent. */
  readonly isSecondFactor: boolean
}

export function toSms(settings: SmsSettings, use: SmsUse, check: Check): SmsConfig {
  const { testOtp, testOtpValidUntil, ...rest } = settings
  const { variables } = sms
  const isLengthRight = rest.otpLength >= 6 && rest.otpLength <= 10
  if (!isLengthRight)
    check.note(`${check.nameOf(variables.otpLength)} must be from 6 to 10: 6 is used`)
  checkTemplate(variables.template, rest.template, check)
  checkWebUrl(variables.webhookUrl, rest.webhookUrl, check)
  checkDuration(variables.maxFrequencyMs, rest.maxFrequencyMs, tenYears, check)
  const provider = toGatewayName(rest.provider)
  const gateway = use.isHooked ? throughHook : findGateway({ ...settings, provider })
  if (!gateway.isReady) checkGateway(gateway, { ...rest, provider }, testOtp.size > 0, use, check)
  if (testOtp.size > 0 && testOtpValidUntil === '') {
    const names = [variables.testOtp, variables.testOtpValidUntil].map(check.nameOf)
    check.note(`${names[0]} lets whoever knows its codes sign in, and ${names[1]} sets no end`)
  }
  return {
    ...rest,
    provider,
    otpLength: isLengthRight ? rest.otpLength : 6,
    gateway,
    testCodes: {
      byPhone: toCodesByPhone(testOtp, check),
      validUntilMs: toEnd(testOtpValidUntil, check),
    },
  }
}

/**
 * A gateway that is named is meant to send. Without a name, phone sign-in may be for later; with codes for
 * tests nothing may have to be sent.
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
  if (provider === '') {
    const isMissed = (use.isUsed || use.isSecondFactor) && !hasTestCodes
    if (isMissed) check.note(`${name} is not set. No text message can be sent`)
  } else if (!gateway.isKnown) {
    check.fault(variable, `must be one of: ${Object.keys(smsGateways).join(', ')}`)
  } else if (!hasTestCodes && (use.isSecondFactor || (use.isUsed && !autoconfirm))) {
    check.fault(variable, `cannot send text messages: ${gateway.problem}`)
  } else {
    check.note(`${name} is ${provider}: ${gateway.problem}. No text message can be sent`)
  }
}

/** A broken one would only show when a message is due. */
export function checkTemplate(variable: AnyVariable, source: string, check: Check): void {
  try {
    parseTextTemplate(source)
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    check.fault(variable, `is not a template: ${error.message}`)
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
      check.fault(sms.variables.testOtp, `${text} is not a phone number of digits (E.164)`)
    }
    if (code.trim() === '') check.fault(sms.variables.testOtp, `${text} has no code`)
  }
  return byPhone
}

function toEnd(text: string, check: Check): number {
  if (text === '') return Number.POSITIVE_INFINITY
  const isWhole = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d)$/.test(
    text,
  )
  const ms = isWhole ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(ms)) return ms
  check.fault(sms.variables.testOtpValidUntil, 'must be a time with its zone: 2030-01-31T12:00:00Z')
  return Number.NEGATIVE_INFINITY
}
