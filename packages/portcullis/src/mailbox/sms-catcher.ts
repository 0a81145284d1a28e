import { createHash, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from '@portcullis/service-kit/http'
import { toReason } from '@portcullis/service-kit/text/reason'
import { findLinks } from './find-links.ts'
import { listenOn } from './listen.ts'
import type { Deliver } from './mailbox.ts'
import type { MessageContent } from './read-email.ts'

interface SmsCatcherSettings {
  readonly host: string
  readonly port: number
  readonly secret: string
  readonly deliver: Deliver
}

interface SmsCatcher extends AsyncDisposable {
  readonly url: string
}

interface Answer {
  readonly status: number
  readonly message: string
  readonly headers?: Readonly<Record<string, string>>
}

const maxBodyBytes = 64 * 1024

const notWritten: Answer = {
  status: 503,
  message: 'The mailbox could not store the message. Check the free disk space.',
}

/** An SMS gateway that stores messages instead of sending them, for `AUTH_SMS_PROVIDER=webhook`. */
export async function openSmsCatcher(settings: SmsCatcherSettings): Promise<SmsCatcher> {
  const server = createServer((request, response) => {
    void take(request, settings)
      .catch(() => notWritten)
      .then((answer) => send(response, answer))
  })
  const address = await listenOn(server, settings.host, settings.port)
  return {
    url: `http://${address}/`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function take(
  request: IncomingMessage,
  { secret, deliver }: SmsCatcherSettings,
): Promise<Answer> {
  const { method, headers } = request
  if (method !== 'POST') {
    return {
      status: 405,
      message: 'Method not allowed; send text messages with POST.',
      headers: { allow: 'POST' },
    }
  }
  if (!isSame(headers.authorization ?? '', `Bearer ${secret}`)) {
    return {
      status: 401,
      message: 'The secret is missing or wrong. Send it as "authorization: Bearer SECRET".',
      headers: { 'www-authenticate': 'Bearer' },
    }
  }
  if (!/^application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? '')) {
    return { status: 415, message: 'The body must be application/json.' }
  }
  const source = await readBody(request)
  if (source === undefined) {
    return { status: 413, message: `The body is larger than ${maxBodyBytes} bytes.` }
  }
  let parsed: TextMessage
  try {
    parsed = parseTextMessage(source.toString('utf8'))
  } catch (error) {
    return { status: 400, message: `${toReason(error)}.` }
  }
  await deliver({ kind: parsed.channel, from: '', to: [parsed.to], source })
  return { status: 200, message: 'Stored in the mailbox of the console.' }
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > maxBodyBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function send(response: ServerResponse, { status, message, headers }: Answer): void {
  // Unread bytes of this request would be taken for the next one.
  const isWhole = response.req.complete
  response.writeHead(status, {
    'content-type': 'application/json',
    ...headers,
    ...(!isWhole && { connection: 'close' }),
  })
  response.end(JSON.stringify({ message }))
}

/** Compares in constant time, regardless of the length of the guess. */
function isSame(guess: string, secret: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(guess), digest(secret))
}

/** The request that the auth server sends to a webhook gateway. */
interface TextMessage {
  readonly to: string
  readonly message: string
  readonly code?: string
  readonly channel: 'sms' | 'whatsapp'
}

/** @throws {TypeError} with a message that names the invalid field. */
function parseTextMessage(body: string): TextMessage {
  const { to, message, code, channel = 'sms' } = parseObject(body)
  if (typeof to !== 'string' || to === '') throw new TypeError('"to" must be a phone number')
  if (typeof message !== 'string') throw new TypeError('"message" must be a string')
  if (code !== undefined && typeof code !== 'string') throw new TypeError('"code" must be a string')
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
