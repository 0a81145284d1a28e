import PostalMime, { type Address, type Attachment } from 'postal-mime'
import { findCode, findLinks, toPlainText } from './find-links.ts'
import type { CaughtMessage, MessageAttachment } from './mailbox.ts'

/** The content of a message, without its delivery data. */
export type MessageContent = Pick<
  CaughtMessage,
  'from' | 'subject' | 'text' | 'html' | 'links' | 'code' | 'attachments'
>

const parseLimits = { maxNestingDepth: 50, maxHeadersSize: 512 * 1024 }

/** Limits for display. The source is complete. */
const maxTextLength = 1024 * 1024
const maxHtmlLength = 4 * 1024 * 1024
const maxAttachments = 100

/** Parses a mail. If it cannot be parsed, its source becomes its text. */
export async function readEmail(source: Buffer): Promise<MessageContent> {
  const email = await PostalMime.parse(source, parseLimits).catch(() => undefined)
  if (email === undefined) return toUnread(source)
  const html = email.html?.slice(0, maxHtmlLength)
  const shown = html === undefined ? '' : toPlainText(html)
  const text = (email.text?.trimEnd() ?? shown).slice(0, maxTextLength)
  return {
    from: toAddress(email.from),
    subject: email.subject?.trim() ?? '',
    text,
    html,
    links: findLinks(html, text),
    code: findCode(shown) ?? findCode(text),
    attachments: email.attachments.slice(0, maxAttachments).map(toAttachment),
  }
}

/** Returns a message that was not parsed: its source becomes its text. */
export function toUnread(source: Buffer): MessageContent {
  const text = source.subarray(0, maxTextLength).toString('utf8')
  return { from: '', subject: '', text, links: findLinks(undefined, text), attachments: [] }
}

function toAddress(address: Address | undefined): string {
  if (address?.address === undefined) return address?.name ?? ''
  return address.name === '' ? address.address : `${address.name} <${address.address}>`
}

function toAttachment(attachment: Attachment, index: number): MessageAttachment {
  const { filename, mimeType, content, contentId } = attachment
  return {
    name: filename ?? `attachment-${index + 1}`,
    type: mimeType,
    content: typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content),
    ...(contentId !== undefined && { contentId: contentId.replace(/^<|>$/g, '') }),
  }
}
