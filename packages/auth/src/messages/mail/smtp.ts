import MailComposer from 'nodemailer/lib/mail-composer'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import type { SmtpConfig } from '../../config/mail/mail.ts'
import { UndeliverableError } from '../sending/failures.ts'
import type { RenderedMail } from './mail-renderer.ts'

export interface OutgoingMail extends RenderedMail {
  readonly to: string
  /** The same for every attempt, so that mailboxes recognise a duplicate. */
  readonly messageId: string
  /** The kind of message, for additional headers. */
  readonly kind?: string
}

export interface SmtpClient extends AsyncDisposable {
  /**
   * Resolves when the server has accepted the message. Closes the connection when `signal` fires.
   */
  send(mail: OutgoingMail, signal: AbortSignal): Promise<void>
}

export interface SmtpSettings extends Omit<SmtpConfig, 'headers'> {
  readonly headers?: SmtpConfig['headers']
  /** How long an idle connection is kept. */
  readonly idleMs?: number
  /** Whether to use implicit TLS. Default: on port 465. */
  readonly isSecure?: boolean
  /** An additional trusted certificate authority, as PEM. */
  readonly ca?: string
}

/** A connection is replaced after this many messages, because some servers limit them. */
const maxMessages = 100
const stepTimeoutMs = 30_000

interface PooledConnection {
  readonly connection: SMTPConnection
  /** Rejects when either side closes the connection. */
  readonly ended: Promise<never>
  messages: number
  idleTimer: NodeJS.Timeout | undefined
}

/** Keeps a pool of connections that is as large as the number of messages sent concurrently. */
export function openSmtp(settings: SmtpSettings): SmtpClient {
  const { from, headers = {}, idleMs = 30_000 } = settings
  const idle: PooledConnection[] = []
  const all = new Set<PooledConnection>()

  const drop = (pooled: PooledConnection): void => {
    clearTimeout(pooled.idleTimer)
    all.delete(pooled)
    const at = idle.indexOf(pooled)
    if (at >= 0) idle.splice(at, 1)
    pooled.connection.close()
  }
  const quit = (pooled: PooledConnection): void => {
    pooled.connection.quit()
    drop(pooled)
  }
  const keep = (pooled: PooledConnection): void => {
    if (++pooled.messages >= maxMessages) quit(pooled)
    if (!all.has(pooled)) return
    pooled.idleTimer = setTimeout(quit, idleMs, pooled)
    pooled.idleTimer.unref()
    idle.push(pooled)
  }
  const create = (): PooledConnection => {
    const connection = createConnection(settings)
    const { promise: ended, reject } = Promise.withResolvers<never>()
    // The connection may also end while it is idle.
    ended.catch(() => undefined)
    const pooled: PooledConnection = { connection, ended, messages: 0, idleTimer: undefined }
    all.add(pooled)
    connection.on('error', (error) => {
      reject(error)
      drop(pooled)
    })
    connection.on('end', () => {
      reject(new Error('The mail server closed the connection'))
      drop(pooled)
    })
    return pooled
  }
  const take = (): { pooled: PooledConnection; isNew: boolean } => {
    const kept = idle.pop()
    clearTimeout(kept?.idleTimer)
    return { pooled: kept ?? create(), isNew: kept === undefined }
  }

  return {
    async send(mail, signal) {
      if (!isSendable(mail.to)) throw new UndeliverableError('the address is invalid')
      const message = await compose(mail, from, headers)
      signal.throwIfAborted()
      const { pooled, isNew } = take()
      const { connection, ended } = pooled
      const talk = async (): Promise<void> => {
        if (isNew) {
          await promised((done) => connection.connect(done))
          await logIn(connection, settings)
        }
        const envelope = { from: from.address, to: [mail.to] }
        await promised((done) => connection.send(envelope, message, done))
      }
      const abort = () => drop(pooled)
      signal.addEventListener('abort', abort, { once: true })
      try {
        await Promise.race([talk(), ended])
        keep(pooled)
      } catch (error) {
        drop(pooled)
        throw toSendError(error)
      } finally {
        signal.removeEventListener('abort', abort)
      }
    },
    async [Symbol.asyncDispose]() {
      for (const pooled of idle.slice()) quit(pooled)
      for (const pooled of [...all]) drop(pooled)
    },
  }
}

function createConnection({ host, port, ca, isSecure }: SmtpSettings): SMTPConnection {
  return new SMTPConnection({
    ...{ host, port },
    // On other ports, STARTTLS is used if the server offers it.
    secure: isSecure ?? port === 465,
    connectionTimeout: stepTimeoutMs,
    greetingTimeout: stepTimeoutMs,
    socketTimeout: stepTimeoutMs,
    dnsTimeout: stepTimeoutMs,
    ...(ca === undefined ? {} : { tls: { ca } }),
  })
}

async function logIn(connection: SMTPConnection, settings: SmtpSettings): Promise<void> {
  const { host, user, password } = settings
  // A server without authentication, such as a test mail catcher, accepts no credentials.
  if (user === '' || !connection.allowsAuth) return
  if (!connection.secure && !isThisMachine(host)) {
    throw new Error('The mail server does not offer encryption, so the password is not sent')
  }
  await promised((done) =>
    connection.login({ user, pass: password, credentials: { user, pass: password } }, done),
  )
}

function isThisMachine(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host)
}

async function compose(
  mail: OutgoingMail,
  from: SmtpConfig['from'],
  headers: SmtpConfig['headers'],
): Promise<Buffer> {
  const { to, subject, html, text, messageId, kind = '' } = mail
  const more = Object.entries(headers).flatMap(([key, values]) =>
    values
      .filter((value) => value !== '')
      .map((value) => ({ key, value: value.replaceAll('$messageType', () => kind) })),
  )
  const composer = new MailComposer({
    // Passed as objects, so that commas and brackets are not interpreted.
    from: { name: toOneLine(from.name), address: from.address },
    to: { name: '', address: to },
    ...{ subject, html, text, messageId },
    date: new Date(),
    headers: [{ key: 'Auto-Submitted', value: 'auto-generated' }, ...more],
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return await composer.compile().build()
}

/** A single address that cannot break out of the SMTP command line. */
function isSendable(address: string): boolean {
  return /^[^\s<>\p{Cc}]+@[^\s<>@\p{Cc}]+$/u.test(address)
}

function toOneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ')
}

const refusedCommands = new Set(['RCPT TO', 'DATA'])
/** The account of this server is rejected, which an operator can fix (RFC 4954, section 6). */
const authenticationRequired = 530

/**
 * A server that rejects an address or message permanently would reject it again (RFC 5321, section
 * 4.2.1).
 */
function toSendError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { responseCode, command } = Object.assign({ responseCode: 0, command: '' }, error)
  return responseCode >= 500 &&
    responseCode !== authenticationRequired &&
    refusedCommands.has(command)
    ? new UndeliverableError(error.message, { cause: error })
    : error
}

type Done = (error?: Error | null) => void

function promised(start: (done: Done) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    start((error) => (error ? reject(error) : resolve()))
  })
}
