import { once } from 'node:events'
import { SMTPServer } from 'smtp-server'

export interface MailSink extends AsyncDisposable {
  readonly port: number
  /** The number of messages so far. */
  readonly received: number
}

/** A mail server that counts messages and discards them. */
export async function openMailSink(): Promise<MailSink> {
  let received = 0
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    closeTimeout: 100,
    logger: false,
    onData(stream, _session, callback) {
      stream.resume()
      stream.on('end', () => {
        received += 1
        callback()
      })
    },
  })
  server.on('error', () => {})
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  const address = server.server.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port')
  return {
    port: address.port,
    get received() {
      return received
    },
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
