import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  readonly isEncrypted: boolean
  readonly user: string | undefined
  /** By lower-case names. */
  readonly headers: ReadonlyMap<string, string>
  /** Decoded, by media type: `text/plain`, `text/html`. */
  readonly parts: ReadonlyMap<string, string>
  readonly raw: string
}

export interface MailServer {
  readonly port: number
  readonly received: readonly ReceivedMail[]
  /** The total number of connections. */
  readonly connections: number
  /** Resolves once this many messages have been received. */
  waitFor(count: number): Promise<readonly ReceivedMail[]>
  close(): Promise<void>
}

/**
 * A real SMTP server that stores received messages. Options can make it refuse, wait or disconnect.
 */
export async function openMailServer(
  t: TestContext,
  options: SMTPServerOptions & { readonly port?: number } = {},
): Promise<MailServer> {
  const received: ReceivedMail[] = []
  const waiting = new Set<() => void>()
  let connections = 0
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: options.key === undefined ? ['STARTTLS'] : [],
    disableReverseLookup: true,
    closeTimeout: 100,
    logger: false,
    onData(stream, session, callback) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        received.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          isEncrypted: session.secure,
          user: session.user === undefined ? undefined : String(session.user),
          ...parseMail(Buffer.concat(chunks).toString('utf8')),
        })
        callback()
        for (const check of waiting) check()
      })
    },
    ...options,
    onConnect(session, callback) {
      connections++
      if (options.onConnect) options.onConnect(session, callback)
      else callback()
    },
  })
  // Some tests disconnect in the middle of a message.
  server.on('error', () => undefined)
  server.listen(options.port ?? 0, '127.0.0.1')
  await once(server.server, 'listening')
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()))
  t.after(close)
  const address = server.server.address()
  const { port } = address as AddressInfo
  return {
    port,
    received,
    get connections() {
      return connections
    },
    async waitFor(count) {
      if (received.length < count) {
        const { promise, resolve } = Promise.withResolvers<void>()
        const check = () => received.length >= count && resolve()
        waiting.add(check)
        await promise
        waiting.delete(check)
      }
      return received
    },
    close,
  }
}

function parseMail(raw: string) {
  const { headers, body } = splitHeaders(raw)
  const parts = new Map<string, string>()
  const [, boundary] = /boundary="([^"]+)"/.exec(headers.get('content-type') ?? '') ?? []
  const bodies = boundary === undefined ? [raw] : body.split(`--${boundary}`).slice(1, -1)
  for (const part of bodies) {
    const inner = splitHeaders(part.replace(/^\r\n/, ''))
    const type = (inner.headers.get('content-type') ?? 'text/plain').split(';')[0] ?? ''
    parts.set(type, decode(inner.body, inner.headers.get('content-transfer-encoding')))
  }
  return { headers, parts, raw }
}

function splitHeaders(raw: string) {
  const end = raw.indexOf('\r\n\r\n')
  const lines = raw
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
  const headers = new Map(
    lines.map((line) => {
      const at = line.indexOf(':')
      return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()]
    }),
  )
  return { headers, body: raw.slice(end + 4) }
}

function decode(body: string, encoding: string | undefined): string {
  const text = body.replace(/\r\n$/, '')
  if (encoding === 'base64') return Buffer.from(text, 'base64').toString('utf8')
  if (encoding !== 'quoted-printable') return text.replaceAll('\r\n', '\n')
  const bytes = text
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8').replaceAll('\r\n', '\n')
}
