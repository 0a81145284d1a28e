import type { UserRecord } from '../../features/users/user-record.ts'
import { defineNotice } from './hook.ts'

export interface EmailToSend {
  readonly user: UserRecord
  readonly email_data: EmailData
}

export interface EmailData {
  readonly token: string
  readonly token_hash: string
  readonly redirect_to: string
  readonly email_action_type: string
  readonly site_url: string
  readonly token_new: string
  readonly token_hash_new: string
  readonly old_email: string
  readonly old_phone: string
  readonly provider: string
  readonly factor_type: string
}

export const sendEmail = defineNotice<EmailToSend>({
  variable: 'SEND_EMAIL',
  purpose: 'sends email instead of an SMTP server',
  name: 'send-email',
})
