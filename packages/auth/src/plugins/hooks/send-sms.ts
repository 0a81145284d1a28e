import type { UserRecord } from '../../features/users/user-record.ts'
import { defineNotice } from './hook.ts'

export interface SmsToSend {
  readonly user: UserRecord
  readonly sms: { readonly otp: string; readonly sms_type: string; readonly phone: string }
}

export const sendSms = defineNotice<SmsToSend>({
  variable: 'SEND_SMS',
  purpose: 'sends text messages instead of an SMS gateway',
  name: 'send-sms',
})
