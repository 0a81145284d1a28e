import type { Log } from '@portcullis/service-kit/log'
import type { Config } from '../config.ts'
import type { Queries } from '../db/database.ts'
import { createMailChannel, createNoMailChannel } from './mail-channel.ts'
import { createMailRenderer } from './mail-renderer.ts'
import { type OutboxSender, type OutboxSenderSettings, openOutboxSender } from './outbox-sender.ts'
import { openSmtp } from './smtp.ts'

export interface MessagesSettings {
  readonly config: Pick<Config, 'mail' | 'site'>
  readonly db: Queries
  readonly log: Pick<Log, 'error' | 'warning' | 'info'>
  readonly sending?: Partial<OutboxSenderSettings>
}

/** Everything from the outbox to the mail server. */
export function openMessages({ config, db, log, sending }: MessagesSettings): OutboxSender {
  const { mail, site } = config
  const smtp = mail.smtp === undefined ? undefined : openSmtp(mail.smtp)
  const email =
    smtp === undefined || mail.smtp === undefined
      ? createNoMailChannel(log)
      : createMailChannel({
          smtp,
          renderer: createMailRenderer({ mail, siteUrl: site.url, log }),
          fromAddress: mail.smtp.from.address,
        })
  const sender = openOutboxSender({ db, channels: { email }, log, ...sending })
  return {
    ...sender,
    async [Symbol.asyncDispose]() {
      await sender[Symbol.asyncDispose]()
      await smtp?.[Symbol.asyncDispose]()
    },
  }
}
