import { findLinks } from './find-links.ts'
import type { MessageContent } from './read-email.ts'

/** What the auth server posts to a gateway of the operator's own. */
export interface TextMessage {
  readonly to: string
  readonly message: string
  readonly code?: string
  readonly channel: 'sms' | 'whatsapp'
}

/** @throws {TypeError} that says what is wrong with it. */
export function parseTextMessage(body: string): TextMessage {
  const { to, message, code, channel = 'sms' } = parseObject(body)
  if (typeof to !== 'string' || to === '') throw new TypeError('"to" must be a phone number')
  if (typeof message !== 'string') throw new TypeError('"message" must be a text')
  if (code !== undefined && typeof code !== 'string') throw new TypeError('"code" must be a text')
  if (channel !== 'sms' && channel !== 'whatsapp') {
    throw new TypeError('"channel" must be "sms" or "whatsapp"')
  }
  return { to, message, channel, ...(code !== undefined && code !== '' && { code }) }
}

function parseObject(body: string): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    throw new TypeError('The body must be JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new TypeError('The body must be a JSON object')
  }
  return { ...value }
}

export function readTextMessage(source: Buffer): MessageContent {
  const { message, code } = parseTextMessage(source.toString('utf8'))
  return {
    from: '',
    subject: '',
    text: message,
    links: findLinks(undefined, message),
    code,
    attachments: [],
  }
}
