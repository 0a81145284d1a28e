import { join } from 'node:path'
import { createMailReader, type MailReaderSettings } from './mail-thread.ts'
import type { CaughtMessage, Deliver, Mailbox, MessageKind, MessageSummary } from './mailbox.ts'
import { openMessageStore, type StoredSummary } from './message-store.ts'
import type { MessageContent } from './read-email.ts'
import { openSmsCatcher, readTextMessage } from './sms-catcher.ts'
import { openSmtpCatcher } from './smtp-catcher.ts'

export interface MailboxSettings {
  readonly host: string
  /** 0 picks a free port. */
  readonly smtpPort: number
  /** 0 picks a free port. */
  readonly smsPort: number
  /** The bearer token that senders of text messages must present. */
  readonly smsSecret: string
  /** Messages are stored in its subfolder `mailbox`. */
  readonly folder: string
  /** When there are more, the oldest are deleted. */
  readonly maxMessages?: number
  readonly maxBytes?: number
  /** The maximum total size of mails that are being received. */
  readonly maxArrivingBytes?: number
  readonly mailReader?: MailReaderSettings
}

export interface RunningMailbox extends Mailbox, AsyncDisposable {}

type Readers = Readonly<
  Record<MessageKind, (source: Buffer) => MessageContent | Promise<MessageContent>>
>

/** Accepts emails and text messages from any sender and stores them for the developer to read. */
export async function openMailbox(settings: MailboxSettings): Promise<RunningMailbox> {
  const { host, smtpPort, smsPort, smsSecret, folder } = settings
  const { maxMessages = 500, maxBytes = 256 * 1024 * 1024 } = settings
  const mailReader = createMailReader(settings.mailReader)
  const readers: Readers = {
    email: (source) => mailReader.read(source),
    sms: readTextMessage,
    whatsapp: readTextMessage,
  }
  const { store, messages: kept } = await openMessageStore(join(folder, 'mailbox'))
  /** Newest first. */
  let messages = kept.toReversed()
  let lastId = messages[0]?.id ?? ''
  const listeners = new Set<() => void>()
  const change = (next: readonly MessageSummary[]): void => {
    messages = [...next]
    for (const listener of listeners) listener()
  }
  const nextId = (receivedAt: number): string => {
    // Microseconds, so that ids stay unique and ordered within a millisecond, and if the clock is set back.
    lastId = toId(Math.max(receivedAt * 1000, Number.parseInt(lastId || '0', 36) + 1))
    return lastId
  }
  const find = (id: string) => messages.find((message) => message.id === id)
  const trim = async (): Promise<void> => {
    let bytes = 0
    const isOver = ({ sizeBytes }: MessageSummary, index: number) => {
      bytes += sizeBytes
      return index > 0 && (index >= maxMessages || bytes > maxBytes)
    }
    const over = new Set(messages.filter(isOver))
    if (over.size === 0) return
    change(messages.filter((message) => !over.has(message)))
    for (const { id } of over) await store.remove(id)
  }

  const deliver: Deliver = async ({ kind, from, to, source }) => {
    const receivedAt = Date.now()
    const id = nextId(receivedAt)
    const content = await readers[kind](source)
    const summary: StoredSummary = {
      kind,
      id,
      receivedAt,
      to: to.map((address) => address.slice(0, maxAddressLength)),
      ...toSummary(content, from),
      sizeBytes: source.length,
    }
    await store.add(summary, source)
    // Sorted, because a message that arrived earlier may have been stored later.
    const sorted = [...messages, { ...summary, isRead: false }]
    change(sorted.sort((a, b) => (a.id < b.id ? 1 : -1)))
    await trim()
  }

  await trim()
  const smtp = await openSmtpCatcher({
    host,
    port: smtpPort,
    deliver,
    maxArrivingBytes: settings.maxArrivingBytes ?? 64 * 1024 * 1024,
  })
  const openSms = openSmsCatcher({ host, port: smsPort, secret: smsSecret, deliver })
  const sms = await openSms.catch(async (error) => {
    await smtp[Symbol.asyncDispose]()
    throw error
  })

  return {
    smtpAddress: smtp.address,
    smsUrl: sms.url,
    list: () => messages,
    async find(id) {
      const summary = find(id)
      const source = summary && (await store.readSource(id))
      if (!summary || !source) return undefined
      const content = await readers[summary.kind](source)
      return { ...content, ...summary } satisfies CaughtMessage
    },
    async readSource(id) {
      return find(id) && store.readSource(id)
    },
    async markRead(id) {
      if (find(id)?.isRead !== false) return
      await store.markRead(id)
      change(
        messages.map((message) => (message.id === id ? { ...message, isRead: true } : message)),
      )
    },
    async remove(id) {
      if (!find(id)) return false
      change(messages.filter((message) => message.id !== id))
      await store.remove(id)
      return true
    },
    async clear() {
      const removed = messages
      change([])
      for (const { id } of removed) await store.remove(id)
    },
    watch(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async [Symbol.asyncDispose]() {
      await sms[Symbol.asyncDispose]()
      await smtp[Symbol.asyncDispose]()
      await mailReader[Symbol.asyncDispose]()
    },
  }
}

const maxAddressLength = 320
const maxSubjectLength = 500
const maxExcerptLength = 300

function toSummary(
  { from, subject, text, code }: MessageContent,
  envelopeFrom: string,
): Pick<MessageSummary, 'from' | 'subject' | 'excerpt' | 'code'> {
  const start = text.slice(0, maxExcerptLength * 4).replace(/\s+/g, ' ')
  return {
    from: (from || envelopeFrom).slice(0, maxAddressLength),
    subject: subject.slice(0, maxSubjectLength),
    excerpt: start.trim().slice(0, maxExcerptLength),
    code,
  }
}

/** Pads the number, so that ids sort as text in numerical order. */
function toId(microseconds: number): string {
  return microseconds.toString(36).padStart(11, '0')
}
