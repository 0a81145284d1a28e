import type { SmsGatewayName } from '../../config/sms-gateways.ts'
import type { Gateway } from './gateway.ts'
import { messagebird } from './messagebird.ts'
import { textlocal } from './textlocal.ts'
import { twilio } from './twilio.ts'
import { vonage } from './vonage.ts'
import { webhook } from './webhook.ts'

/** By AUTH_SMS_PROVIDER. What each must be told in the configuration: `config/sms-gateways.ts`. */
export const gateways: Readonly<Record<SmsGatewayName, Gateway>> = {
  twilio,
  messagebird,
  textlocal,
  vonage,
  webhook,
}
