import type { Gateway } from './gateway.ts'
import { messagebird } from './messagebird.ts'
import { textlocal } from './textlocal.ts'
import { twilio } from './twilio.ts'
import { vonage } from './vonage.ts'
import { webhook } from './webhook.ts'

/** By AUTH_SMS_PROVIDER: a file and a line for each. */
export const gateways = {
  twilio,
  messagebird,
  textlocal,
  vonage,
  webhook,
} satisfies Readonly<Record<string, Gateway>>

export type SmsGatewayName = keyof typeof gateways
