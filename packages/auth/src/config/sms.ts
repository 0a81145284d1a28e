import type { Check } from '@portcullis/service-kit/config-check'
import {
  boolean,
  type Chapter,
  choice,
  duration,
  hideAll,
  integer,
  map,
  type Settings,
  string,
} from '@portcullis/service-kit/env'
import { withOldNames } from './auth-name.ts'

const gateways = ['', 'twilio', 'messagebird', 'textlocal', 'vonage'] as const

export const sms = {
  title: 'Text messages',
  variables: withOldNames({
    autoconfirm: boolean('AUTH_SMS_AUTOCONFIRM', false, 'Whether numbers count as confirmed'),
    maxFrequencyMs: duration(
      'AUTH_SMS_MAX_FREQUENCY',
      '60s',
      'The shortest time between two text messages to one user',
      { bareSeconds: true, defaultText: '60' },
    ),
    otpExpiresInSeconds: integer('AUTH_SMS_OTP_EXP', 60, 'How long codes are valid, in seconds', {
      min: 1,
    }),
    otpLength: integer('AUTH_SMS_OTP_LENGTH', 6, 'Digits of a code, from 6 to 10'),
    provider: choice('AUTH_SMS_PROVIDER', gateways, '', 'The gateway for text messages', {
      spellings: { gatewaya: 'twilio', gatewayb: 'messagebird' },
      defaultText: 'none',
    }),
    template: string('AUTH_SMS_TEMPLATE', 'Your code is {{ .Code }}', 'The text of a message'),
    testOtp: map('AUTH_SMS_TEST_OTP', 'Codes that always work, by number: 15550100:123456'),
    testOtpValidUntil: string('AUTH_SMS_TEST_OTP_VALID_UNTIL', '', 'When they stop to work'),
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
  }),
} satisfies Chapter

export type SmsConfig = Settings<typeof sms.variables>

export function toSms(settings: SmsConfig, check: Check): SmsConfig {
  if (settings.otpLength >= 6 && settings.otpLength <= 10) return settings
  check.note(`${check.nameOf(sms.variables.otpLength)} must be from 6 to 10: 6 is used`)
  return { ...settings, otpLength: 6 }
}
