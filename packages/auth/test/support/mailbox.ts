import type { TestContext } from 'node:test'
import { openMailServer, type ReceivedMail } from './mail-server.ts'
import { until } from './outbox.ts'

/** A received message. */
export interface ReceivedMessage {
  readonly subject: string
  /** Empty if the message has no link. */
  readonly link: string
  /** The token in the link, which applications with their own links send as `token_hash`. */
  readonly tokenHash: string
  /** The numeric code. */
  readonly code: string
}

export interface Mailbox {
  readonly port: number
  /** Waits for the oldest unread message to an address. */
  readNext(email: string): Promise<ReceivedMessage>
  /** The total number of messages to an address. */
  countOf(email: string): number
}

/** Reads the messages that a real mail server received, by address. */
export async function openMailbox(t: TestContext): Promise<Mailbox> {
  const server = await openMailServer(t)
  const read = new Set<ReceivedMail>()
  const isTo = (email: string) => (mail: ReceivedMail) => mail.to.includes(email)
  return {
    port: server.port,
    async readNext(email) {
      const findNext = () => server.received.filter(isTo(email)).find((mail) => !read.has(mail))
      await until(() => findNext() !== undefined)
      const mail = findNext()
      if (mail === undefined) throw new Error(`No message to ${email}`)
      read.add(mail)
      return toReceivedMessage(mail)
    },
    countOf: (email) => server.received.filter(isTo(email)).length,
  }
}

function toReceivedMessage({ headers, parts }: ReceivedMail): ReceivedMessage {
  const text = parts.get('text/plain') ?? ''
  const [link = ''] = /https?:\/\/\S+\/verify\?[^\s)>\]]+/.exec(text) ?? []
  const [, code = ''] = /^\s*(\d{6})\s*$/m.exec(text) ?? []
  return {
    subject: headers.get('subject') ?? '',
    link,
    tokenHash: (link && new URL(link).searchParams.get('token')) || '',
    code,
  }
}
