import type { Gateway } from './gateway.ts'
import { messagebird } from './messagebird.ts'
import { textlocal } from './textlocal.ts'
import { twilio } from './twilio.ts'
import { twilioVerify } from './twilio-verify.ts'
import { vonage } from './vonage.ts'
import { webhook } from './webhook.ts'

/** The gateways by the value of AUTH_SMS_PROVIDER. */
export const gateways = {
  twilio,
  messagebird,
  textlocal,
  vonage,
  webhook,
  twilio_verify: twilioVerify,
} satisfies Readonly<Record<string, Gateway>>

export type SmsGatewayName = keyof typeof gateways
