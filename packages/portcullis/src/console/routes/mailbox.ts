import type { FastifyReply } from 'fastify'
import { frameHeaders, toFrameDocument } from '../../mailbox/frame-document.ts'
import type { CaughtMessage, Mailbox, MessageLink, MessageSummary } from '../../mailbox/mailbox.ts'
import { ConsoleError } from '../errors.ts'
import type { AddRoutes, ConsoleContext } from '../settings.ts'

export type { MessageKind, MessageLink, MessageSummary } from '../../mailbox/mailbox.ts'

export interface MailboxListing {
  /** Newest first. */
  readonly messages: readonly MessageSummary[]
  /** Includes messages that do not match the search. */
  readonly total: number
  readonly smtpAddress: string
  readonly smsUrl: string
}

export interface MessageDetails extends MessageSummary {
  readonly text: string
  readonly hasHtml: boolean
  readonly links: readonly MessageLink[]
  readonly attachments: readonly AttachmentSummary[]
}

export interface AttachmentSummary {
  readonly name: string
  readonly type: string
  readonly sizeBytes: number
}

export interface MessageSource {
  readonly text: string
  readonly isCut: boolean
}

/** The content of an event. */
export interface MailboxState {
  readonly total: number
  readonly unread: number
}

const maxShownSource = 200_000
/** Messages that arrive at about the same time cause a single event. */
const gatherMs = 40

type One = { Params: { id: string } }

const listSchema = {
  querystring: {
    type: 'object',
    properties: { q: { type: 'string', maxLength: 200, default: '' } },
  },
}

export const addRoutes: AddRoutes = (server, context) => {
  const root = '/api/mailbox/messages'

  server.get<{ Querystring: { q: string } }>(
    root,
    { schema: listSchema },
    async ({ query }): Promise<MailboxListing> => {
      const { list, smtpAddress, smsUrl } = getMailbox(context)
      const messages = list()
      return {
        messages: messages.filter(createFilter(query.q)),
        total: messages.length,
        smtpAddress,
        smsUrl,
      }
    },
  )
  server.delete(root, async (_request, reply) => {
    await getMailbox(context).clear()
    return reply.code(204).send()
  })

  server.get<One>(`${root}/:id`, async ({ params }): Promise<MessageDetails> => {
    return toDetails(await findMessage(context, params.id))
  })
  server.delete<One>(`${root}/:id`, async ({ params }, reply) => {
    if (!(await getMailbox(context).remove(params.id))) throw noSuchMessage()
    return reply.code(204).send()
  })
  server.post<One>(`${root}/:id/read`, async ({ params }, reply) => {
    await getMailbox(context).markRead(params.id)
    return reply.code(204).send()
  })
  server.get<One>(`${root}/:id/html`, async ({ params }, reply) => {
    const message = await getMailbox(context).find(params.id)
    reply.headers(frameHeaders).type('text/html; charset=utf-8')
    if (message?.html !== undefined) return reply.send(toFrameDocument(message))
    // A message can be deleted just before its frame loads, and the frame can only show a document.
    const html = '<p>The message no longer exists.</p>'
    return reply.code(404).send(toFrameDocument({ html, attachments: [] }))
  })
  server.get<One>(`${root}/:id/source`, async ({ params }): Promise<MessageSource> => {
    const source = await findSource(context, params.id)
    const text = source.subarray(0, maxShownSource).toString('utf8')
    return { text, isCut: source.length > maxShownSource }
  })
  server.get<One>(`${root}/:id/download`, async ({ params }, reply) => {
    const source = await findSource(context, params.id)
    return sendFile(reply, `message-${params.id}.eml`, source)
  })
  server.get<{ Params: { id: string; index: string } }>(
    `${root}/:id/attachments/:index`,
    async ({ params }, reply) => {
      const { attachments } = await findMessage(context, params.id)
      const attachment = attachments[Number(params.index)]
      if (attachment === undefined) throw noSuchMessage('The message has no such attachment.')
      return sendFile(reply, attachment.name, Buffer.from(attachment.content))
    },
  )

  server.get('/api/mailbox/events', async (_request, reply) => {
    const mailbox = getMailbox(context)
    const stream = context.streams.open(reply)
    let timer: NodeJS.Timeout | undefined
    const sendState = () => {
      timer = undefined
      stream.send('state', toState(mailbox))
    }
    const end = mailbox.watch(() => {
      timer ??= setTimeout(sendState, gatherMs)
    })
    stream.closed.addEventListener('abort', () => {
      end()
      clearTimeout(timer)
    })
    // The first event updates a page that has reconnected.
    sendState()
    return reply
  })
}

function getMailbox({ mailbox }: ConsoleContext): Mailbox {
  if (mailbox !== undefined) return mailbox
  const message = 'This console has no mailbox. Run "portcullis up" to start one.'
  throw new ConsoleError(404, 'no_mailbox', message)
}

async function findMessage(context: ConsoleContext, id: string): Promise<CaughtMessage> {
  const message = await getMailbox(context).find(id)
  if (message === undefined) throw noSuchMessage()
  return message
}

async function findSource(context: ConsoleContext, id: string): Promise<Buffer> {
  const source = await getMailbox(context).readSource(id)
  if (source === undefined) throw noSuchMessage()
  return source
}

function noSuchMessage(message = 'The message no longer exists.'): ConsoleError {
  return new ConsoleError(404, 'no_such_message', message)
}

function toDetails({ html, attachments, ...message }: CaughtMessage): MessageDetails {
  return {
    ...message,
    hasHtml: html !== undefined,
    attachments: attachments.map(({ name, type, content }) => ({
      name,
      type,
      sizeBytes: content.length,
    })),
  }
}

function toState(mailbox: Mailbox): MailboxState {
  const messages = mailbox.list()
  return { total: messages.length, unread: messages.filter(({ isRead }) => !isRead).length }
}

/** Every word must occur in the text that the list shows of a message. */
function createFilter(query: string): (message: MessageSummary) => boolean {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  return ({ from, to, subject, excerpt, code = '' }) => {
    const text = [from, ...to, subject, excerpt, code].join('\n').toLowerCase()
    return words.every((word) => text.includes(word))
  }
}

/** Attachments are downloaded, never displayed, because their content is untrusted. */
function sendFile(reply: FastifyReply, name: string, content: Buffer): FastifyReply {
  const encoded = encodeURIComponent(name.toWellFormed()).replace(/['()*]/g, toPercent)
  return reply
    .type('application/octet-stream')
    .header('content-security-policy', "default-src 'none'; sandbox")
    .header('content-disposition', `attachment; filename*=UTF-8''${encoded}`)
    .send(content)
}

function toPercent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}
