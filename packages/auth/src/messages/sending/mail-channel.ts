import { createHash } from 'node:crypto'
import type { Log } from '@portcullis/service-kit/log'
import type { MailRenderer } from '../mail/mail-renderer.ts'
import type { SmtpClient } from '../mail/smtp.ts'
import type { Deliver } from './outbox-sender.ts'

export interface MailChannelSettings {
  readonly renderer: MailRenderer
  readonly smtp: SmtpClient
  /** SMTP_ADMIN_EMAIL; its domain is that of the message ids. */
  readonly fromAddress: string
}

/** Rows of the outbox become email. */
export function createMailChannel({ renderer, smtp, fromAddress }: MailChannelSettings): Deliver {
  const domain = fromAddress.split('@').at(-1) ?? 'localhost'
  return async ({ id, kind, recipient, payload, created_at }, signal) => {
    const rendered = await renderer.render(kind, payload)
    const unique = createHash('sha256').update(`${id} ${created_at} ${recipient}`).digest('hex')
    const messageId = `<${unique.slice(0, 32)}@${domain}>`
    await smtp.send({ ...rendered, to: recipient, messageId }, signal)
  }
}

/** Without a mail server messages go nowhere. The log says so, without the code and the link. */
export function createNoMailChannel(log: Pick<Log, 'warning'>): Deliver {
  return async ({ id, kind }) => {
    log.warning(`The message ${id} (${kind}) is dropped: no mail server is configured`)
  }
}
