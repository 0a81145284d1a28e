import { once } from 'node:events'
import type { Socket } from 'node:net'
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server'
import { listenOn } from './listen.ts'
import type { Deliver } from './mailbox.ts'

interface SmtpCatcherSettings {
  readonly host: string
  readonly port: number
  readonly deliver: Deliver
  /** Of all mails that are not delivered yet, together. */
  readonly maxArrivingBytes: number
}

interface SmtpCatcher extends AsyncDisposable {
  /** Host and port. */
  readonly address: string
}

const maxMessageBytes = 10 * 1024 * 1024

/** A mail server for everybody and every address, whatever they sign in with. Nothing leaves it. */
export async function openSmtpCatcher(settings: SmtpCatcherSettings): Promise<SmtpCatcher> {
  const { host, port, maxArrivingBytes } = settings
  const arriving = { bytes: 0, maxBytes: maxArrivingBytes }
  /** Whole ones that are being written down. */
  const writing = new Set<Promise<void>>()
  const deliver: Deliver = (arrival) => {
    const written = settings.deliver(arrival)
    writing.add(written)
    return written.finally(() => writing.delete(written))
  }
  const server = new SMTPServer({
    name: 'portcullis',
    banner: 'keeps all mail for its developer',
    authOptional: true,
    authMethods: ['PLAIN', 'LOGIN', 'CRAM-MD5', 'XOAUTH2'],
    // Without it passwords are taken in clear, which is all the same here.
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    size: maxMessageBytes,
    rejectOversized: true,
    maxRecipients: 100,
    maxClients: 100,
    logger: false,
    onAuth: ({ username }, _session, callback) => callback(null, { user: username ?? 'anybody' }),
    onData(stream, session, callback) {
      take(stream, session, deliver, arriving).then(
        () => callback(null, 'Caught: it is in the mailbox of the console'),
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
  // Clients that hang up in the middle, or talk nonsense, have been told what they can be told.
  server.on('error', () => undefined)
  return {
    address,
    async [Symbol.asyncDispose]() {
      const closed = once(server.server, 'close')
      server.close()
      await Promise.allSettled(writing)
      // Not at once: who has just sent one is still to be told that it arrived.
      for (const socket of sockets) socket.destroySoon()
      await closed
    },
  }
}

/** The memory that all mails share until they are delivered. */
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
      // The rest of a mail that is refused has to be read, but not to be kept.
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
    if (isTooMuch) throw new TooMuchMailError('Too much mail arrives at once: try again')
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
  /** Makes clients try again later. */
  readonly responseCode = 452
}

/** One that makes clients try again later. */
function toRefusal(): Error {
  const refusal = new Error('The mailbox could not write the message down: is the disk full?')
  return Object.assign(refusal, { responseCode: 452 })
}
