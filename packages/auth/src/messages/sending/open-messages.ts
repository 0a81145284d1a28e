import { createHash } from 'node:crypto'
import type { Log } from '@portcullis/service-kit/log/log'
import type { Config } from '../../config/config.ts'
import type { Queries } from '../../db/database.ts'
import type { Hooks } from '../../plugins/hooks/index.ts'
import { createMailRenderer, type MailRenderer } from '../mail/mail-renderer.ts'
import type { SmtpClient, SmtpSettings } from '../mail/smtp.ts'
import type { MessageChannel } from '../statements/outbox.ts'
import {
  createEmailHookChannel,
  createNoticeChannel,
  createSmsHookChannel,
} from './hook-channels.ts'
import {
  type Deliver,
  type OutboxSender,
  type OutboxSenderSettings,
  openOutboxSender,
} from './outbox-sender.ts'
import { createSmsChannel } from './sms-channel.ts'

export interface MessagesSettings {
  readonly config: Pick<Config, 'mail' | 'messages' | 'mfa' | 'site' | 'sms'>
  readonly db: Queries
  readonly log: Pick<Log, 'error' | 'warning' | 'info'>
  /** The hooks that receive messages. */
  readonly hooks?: Pick<Hooks, 'sendEmail' | 'sendSms' | 'afterUserCreated'>
  readonly sending?: Partial<OutboxSenderSettings>
  readonly onAttempt?: OnAttempt
  readonly onGivenUp?: OutboxSenderSettings['onGivenUp']
  /** Default: a renderer for this sender only. */
  readonly renderer?: MailRenderer
  /** Overrides the URL of the SMS gateway, for tests. */
  readonly smsUrl?: string | undefined
  /** Processes the requests that `deferMail` and `deferCode` have stored. */
  readonly deliverDeferred?: Deliver
}

/** Opens the path from the outbox to the mail server and the SMS gateway. */
export function openMessages(settings: MessagesSettings): OutboxSender {
  const { config, db, log, sending, hooks } = settings
  const { mail, site } = config
  const smtp = mail.smtp === undefined ? undefined : openSmtpLater(mail.smtp)
  const email =
    smtp === undefined || mail.smtp === undefined
      ? createNoMailChannel(log)
      : createMailChannel({
          smtp,
          renderer: settings.renderer ?? createMailRenderer({ mail, siteUrl: site.url, log }),
          fromAddress: mail.smtp.from.address,
        })
  const { smsUrl } = settings
  const sms = createSmsChannel({ config, ...(smsUrl !== undefined && { baseUrl: smsUrl }) })
  const channels = {
    email: hooks?.sendEmail ? createEmailHookChannel(db, hooks.sendEmail) : email,
    sms: hooks?.sendSms ? createSmsHookChannel(db, hooks.sendSms) : sms,
    hook: createNoticeChannel(db, hooks?.afterUserCreated),
  }
  const watched = settings.onAttempt ? watchChannels(channels, settings.onAttempt) : channels
  const sender = openOutboxSender({
    db,
    channels: {
      ...watched,
      ...(settings.deliverDeferred && { request: settings.deliverDeferred }),
    },
    log,
    concurrency: config.messages.concurrency,
    ...(settings.onGivenUp && { onGivenUp: settings.onGivenUp }),
    ...sending,
  })
  return {
    ...sender,
    async [Symbol.asyncDispose]() {
      await sender[Symbol.asyncDispose]()
      await smtp?.[Symbol.asyncDispose]()
    },
  }
}

type Channels = Readonly<Partial<Record<MessageChannel, Deliver>>>

/** Called for every attempt to send a message, with the kind of message. */
type OnAttempt = (channel: MessageChannel, kind: string, isFailed: boolean) => void

function watchChannels(channels: Channels, onAttempt: OnAttempt): Channels {
  const watch =
    (channel: MessageChannel, deliver: Deliver): Deliver =>
    async (message, signal) => {
      try {
        await deliver(message, signal)
        onAttempt(channel, message.kind, false)
      } catch (error) {
        onAttempt(channel, message.kind, true)
        throw error
      }
    }
  const entries = Object.entries(channels) as [MessageChannel, Deliver][]
  return Object.fromEntries(entries.map(([name, deliver]) => [name, watch(name, deliver)]))
}

/** Loads the SMTP client with the first message, so that a server without email never loads it. */
function openSmtpLater(settings: SmtpSettings): SmtpClient {
  let loaded: Promise<SmtpClient> | undefined
  return {
    async send(mail, signal) {
      loaded ??= import('../mail/smtp.ts').then(({ openSmtp }) => openSmtp(settings))
      await (await loaded).send(mail, signal)
    },
    async [Symbol.asyncDispose]() {
      await (await loaded)?.[Symbol.asyncDispose]()
    },
  }
}

interface MailChannelSettings {
  readonly renderer: MailRenderer
  readonly smtp: SmtpClient
  /** SMTP_ADMIN_EMAIL; its domain is used in message ids. */
  readonly fromAddress: string
}

/** Sends rows of the outbox as email. */
function createMailChannel({ renderer, smtp, fromAddress }: MailChannelSettings): Deliver {
  const domain = fromAddress.split('@').at(-1) ?? 'localhost'
  return async ({ id, kind, recipient, payload, created_at }, signal) => {
    const rendered = await renderer.render(kind, payload)
    const unique = createHash('sha256').update(`${id} ${created_at} ${recipient}`).digest('hex')
    const messageId = `<${unique.slice(0, 32)}@${domain}>`
    await smtp.send({ ...rendered, to: recipient, messageId, kind }, signal)
  }
}

/** Drops messages if no mail server is configured, and logs neither the code nor the link. */
function createNoMailChannel(log: Pick<Log, 'warning'>): Deliver {
  return async ({ id, kind }) => {
    log.warning(`The message ${id} (${kind}) is dropped: no mail server is configured`)
  }
}
