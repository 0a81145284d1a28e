import { once } from 'node:events'
import type { Socket } from 'node:net'
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server'
import type { Deliver } from './delivery.ts'
import { listenOn } from './listen.ts'

export interface SmtpCatcherSettings {
  readonly host: string
  readonly port: number
  readonly deliver: Deliver
}

export interface SmtpCatcher extends AsyncDisposable {
  /** Host and port. */
  readonly address: string
}

const maxMessageBytes = 10 * 1024 * 1024

/** A mail server for everybody and every address, whatever they sign in with. Nothing leaves it. */
export async function openSmtpCatcher(settings: SmtpCatcherSettings): Promise<SmtpCatcher> {
  const { host, port } = settings
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
      take(stream, session, deliver).then(
        () => callback(null, 'Caught: it is in the mailbox of the console'),
        () => callback(toRefusal()),
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

async function take(
  stream: SMTPServerDataStream,
  { envelope }: SMTPServerSession,
  deliver: Deliver,
): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) {
    // The rest has to be read, but not to be kept: it is refused in the end.
    if (stream.sizeExceeded) chunks.length = 0
    else chunks.push(chunk)
  }
  if (stream.sizeExceeded) return
  await deliver({
    kind: 'email',
    from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
    to: envelope.rcptTo.map(({ address }) => address),
    source: Buffer.concat(chunks),
  })
}

/** One that makes clients try again later. */
function toRefusal(): Error {
  const refusal = new Error('The mailbox could not write the message down: is the disk full?')
  return Object.assign(refusal, { responseCode: 452 })
}
