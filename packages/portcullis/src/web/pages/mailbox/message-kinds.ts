import type { MessageKind } from '../../../console/routes/mailbox.ts'
import type { IconName } from '../../components/icons.tsx'

export const kinds: Readonly<
  Record<MessageKind, { readonly icon: IconName; readonly name: string }>
> = {
  email: { icon: 'mailbox', name: 'Email' },
  sms: { icon: 'phone', name: 'SMS' },
  whatsapp: { icon: 'chat', name: 'WhatsApp' },
}
