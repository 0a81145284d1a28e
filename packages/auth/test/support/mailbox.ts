import type { TestContext } from 'node:test'
import { openMailServer, type ReceivedMail } from './mail-server.ts'
import { until } from './outbox.ts'

/** A message as a person reads it. */
export interface Letter {
  readonly subject: string
  /** Empty in a message that has none. */
  readonly link: string
  /** The token of the link, which applications with links of their own use as `token_hash`. */
  readonly tokenHash: string
  /** The digits to type in. */
  readonly code: string
}

export interface Mailbox {
  readonly port: number
  /** The oldest message to an address that was not read yet. Waits for it. */
  readNext(email: string): Promise<Letter>
  /** How many have come to an address in all. */
  countOf(email: string): number
}

/** What a real mail server received, to be read by addresses. */
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
      return toLetter(mail)
    },
    countOf: (email) => server.received.filter(isTo(email)).length,
  }
}

function toLetter({ headers, parts }: ReceivedMail): Letter {
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
