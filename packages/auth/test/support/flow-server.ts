import type { TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { Client } from 'pg'
import { type AuthServer, type AuthServerOptions, openAuthServer } from './auth-server.ts'
import { type HttpAnswer, newEmail, password, send } from './http-client.ts'

/** A message in the outbox. */
export interface Mail {
  readonly kind: string
  readonly recipient: string
  /** The numeric code. */
  readonly code: string
  /** The token in the link. */
  readonly token: string
  /** The path and query of the link, on the server under test. */
  readonly path: string
  readonly url: URL
}

export interface FlowServer extends AuthServer {
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read arbitrary columns
  query(sql: string, values?: readonly unknown[]): Promise<readonly any[]>
  /** Waits until the requested messages have been assigned to their recipients. */
  untilAnswered(): Promise<void>
  /** The messages to an address, newest first. */
  mailsTo(email: string): Promise<readonly Mail[]>
  /** The newest message to an address. */
  mailTo(email: string): Promise<Mail>
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<HttpAnswer>
  /** Creates a user with a confirmed email address and a password. */
  newUser(): Promise<{ readonly id: string; readonly email: string }>
  /**
   * Runs `use` while another transaction has changed the user and not yet committed. The operation
   * has to wait for it and must not lose the change.
   */
  whileChanged<Result>(userId: string, use: () => Promise<Result>): Promise<Result>
  /** The audit log actions of a user, oldest first. */
  actionsOf(userId: string): Promise<readonly string[]>
}

/**
 * Finds sessions blocked by the current one. Other sessions on the same server may be blocked by
 * others.
 */
export const blockedByThisSession =
  'select 1 from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))'

/** Sends no mail and removes the limits that a test does not set. */
const environment = {
  AUTH_MAILER_AUTOCONFIRM: 'false',
  AUTH_SMTP_ADMIN_EMAIL: 'auth@example.com',
  AUTH_SMTP_HOST: '127.0.0.1',
  AUTH_SMTP_PORT: '1',
  AUTH_RATE_LIMIT_EMAIL_SENT: '1000000',
  AUTH_RATE_LIMIT_VERIFY: '1000000',
  AUTH_RATE_LIMIT_OTP: '1000000',
  AUTH_RATE_LIMIT_TOKEN_REFRESH: '1000000',
  AUTH_RATE_LIMIT_EXTERNAL: '1000000',
} as const

/**
 * Opens a server whose messages and tables can be read. Returns undefined if PostgreSQL is missing.
 */
export async function openFlowServer(
  t: TestContext,
  env: Readonly<Record<string, string>> = {},
  options: Pick<AuthServerOptions, 'checkers' | 'applicationName'> = {},
): Promise<FlowServer | undefined> {
  const server = await openAuthServer(t, { ...options, env: { ...environment, ...env } })
  if (!server) return undefined
  const client = new Client({
    connectionString: server.databaseUrl,
    options: `-c search_path=${server.schema}`,
  })
  client.on('error', () => {})
  await client.connect()
  t.after(() => client.end())

  const query = async (sql: string, values: readonly unknown[] = []) =>
    (await client.query(sql, [...values])).rows
  const untilAnswered = async () => {
    while ((await query("select from outbox where channel = 'request'")).length > 0) {
      await setTimeout(5)
    }
  }
  const mailsTo = async (email: string) => {
    await untilAnswered()
    const rows = await query('select * from outbox where recipient = $1 order by id desc', [email])
    return rows.map(toMail)
  }
  const post: FlowServer['post'] = (path, body, headers = {}) =>
    send(server.url, path, { body, headers })
  return {
    ...server,
    clock: server.clock,
    query,
    untilAnswered,
    mailsTo,
    post,
    async mailTo(email) {
      const [mail] = await mailsTo(email)
      if (mail === undefined) throw new Error(`No message to ${email}`)
      return mail
    },
    async newUser() {
      const email = newEmail()
      const { body } = await post('/signup', { email, password })
      await query('update users set email_confirmed_at = now() where id = $1', [body.id])
      await query('delete from one_time_tokens where user_id = $1', [body.id])
      await query('delete from outbox where recipient = $1', [email])
      // Pretend that the sign-up was long ago. Cooldown keys are hashed, so all of them are
      // deleted.
      await query('delete from message_gaps')
      return { id: body.id, email }
    },
    async whileChanged(userId, use) {
      await query('begin')
      await query(
        `update users set raw_user_meta_data = raw_user_meta_data || '{"changed": true}'
         where id = $1`,
        [userId],
      )
      const result = use()
      while ((await query(blockedByThisSession)).length === 0) await setTimeout(5)
      await query('commit')
      return result
    },
    async actionsOf(userId) {
      const rows = await query(
        `select payload ->> 'action' as action from audit_log_entries
         where payload ->> 'actor_id' = $1 order by created_at, age(xmin) desc, ctid`,
        [userId],
      )
      return rows.map(({ action }) => action)
    },
  }
}

// oxlint-disable-next-line typescript/no-explicit-any -- a row of any table
function toMail({ kind, recipient, payload }: any): Mail {
  const url = new URL(payload.ConfirmationURL)
  return {
    kind,
    recipient,
    code: payload.Token,
    token: payload.TokenHash,
    path: `${url.pathname}${url.search}`,
    url,
  }
}

/** The fragment of a redirect. */
export function fragmentOf({ headers }: HttpAnswer): Record<string, string> {
  const [, fragment = ''] = (headers.get('location') ?? '').split('#')
  return Object.fromEntries(new URLSearchParams(fragment))
}

export function queryOf({ headers }: HttpAnswer): Record<string, string> {
  return Object.fromEntries(new URL(headers.get('location') ?? '').searchParams)
}

/** Status, code and text of an error in the form of the specification. */
export function errorOf({ status, body }: HttpAnswer): readonly unknown[] {
  return [status, body.error_code, body.msg]
}
