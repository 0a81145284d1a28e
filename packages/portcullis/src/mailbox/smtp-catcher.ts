import { once } from 'node:events'
import type { Socket } from 'node:net'
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server'
import { listenOn } from './listen.ts'
import type { Deliver } from './mailbox.ts'

interface SmtpCatcherSettings {
  readonly host: string
  readonly port: number
  readonly deliver: Deliver
  /** The maximum total size of mails that are being received. */
  readonly maxArrivingBytes: number
}

interface SmtpCatcher extends AsyncDisposable {
  /** Host and port. */
  readonly address: string
}

const maxMessageBytes = 10 * 1024 * 1024

/** An SMTP server that accepts every sender, recipient and password, and delivers nothing. */
export async function openSmtpCatcher(settings: SmtpCatcherSettings): Promise<SmtpCatcher> {
  const { host, port, maxArrivingBytes } = settings
  const arriving = { bytes: 0, maxBytes: maxArrivingBytes }
  /** Complete mails that are being stored. */
  const writing = new Set<Promise<void>>()
  const deliver: Deliver = (arrival) => {
    const written = settings.deliver(arrival)
    writing.add(written)
    return written.finally(() => writing.delete(written))
  }
  const server = new SMTPServer({
    name: 'portcullis',
    banner: 'development mailbox, delivers nothing',
    authOptional: true,
    authMethods: ['PLAIN', 'LOGIN', 'CRAM-MD5', 'XOAUTH2'],
    // Clients without TLS may then send passwords in clear text, which is harmless here.
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    size: maxMessageBytes,
    rejectOversized: true,
    maxRecipients: 100,
    maxClients: 100,
    logger: false,
    onAuth: ({ username }, _session, callback) => callback(null, { user: username ?? 'anonymous' }),
    onData(stream, session, callback) {
      take(stream, session, deliver, arriving).then(
        () => callback(null, 'Stored in the mailbox of the console'),
        (error: unknown) => callback(error instanceof TooMuchMailError ? error : toRefusal()),
      )
    },
  })
  const sockets = new Set<Socket>()
  server.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const address = await listenOn(server.server, host, port)
  // Protocol errors and lost connections have already been answered and need no handling here.
  server.on('error', () => undefined)
  return {
    address,
    async [Symbol.asyncDispose]() {
      const closed = once(server.server, 'close')
      server.close()
      await Promise.allSettled(writing)
      // Destroyed only after pending writes, so that clients still receive the confirmation.
      for (const socket of sockets) socket.destroySoon()
      await closed
    },
  }
}

/** The memory that all mails share while they are being received. */
interface Arriving {
  bytes: number
  readonly maxBytes: number
}

async function take(
  stream: SMTPServerDataStream,
  { envelope }: SMTPServerSession,
  deliver: Deliver,
  arriving: Arriving,
): Promise<void> {
  const chunks: Buffer[] = []
  let held = 0
  let isTooMuch = false
  const drop = () => {
    chunks.length = 0
    arriving.bytes -= held
    held = 0
  }
  try {
    for await (const chunk of stream) {
      // A refused mail has to be read to its end, but is not kept.
      isTooMuch ||= arriving.bytes + chunk.length > arriving.maxBytes
      if (stream.sizeExceeded || isTooMuch) {
        drop()
      } else {
        chunks.push(chunk)
        held += chunk.length
        arriving.bytes += chunk.length
      }
    }
    if (stream.sizeExceeded) return
    if (isTooMuch) throw new TooMuchMailError('Too many messages at once; try again later')
    await deliver({
      kind: 'email',
      from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
      to: envelope.rcptTo.map(({ address }) => address),
      source: Buffer.concat(chunks),
    })
  } finally {
    drop()
  }
}

class TooMuchMailError extends Error {
  override readonly name = 'TooMuchMailError'
  /** A temporary failure: clients try again later. */
  readonly responseCode = 452
}

/** A temporary failure: clients try again later. */
function toRefusal(): Error {
  const refusal = new Error('The mailbox could not store the message. Check the free disk space.')
  return Object.assign(refusal, { responseCode: 452 })
}
