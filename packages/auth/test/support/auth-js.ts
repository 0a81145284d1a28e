import type { TestContext } from 'node:test'
import { findFreePort } from '@portcullis/test-servers'
import { type AuthChangeEvent, GoTrueClient } from '@supabase/auth-js'
import { type AuthServer, openAuthServer } from './auth-server.ts'
import { fetchReceived, newEmail, password } from './http-client.ts'
import { type Mailbox, openMailbox } from './mailbox.ts'

export type AuthClient = GoTrueClient
export type AuthClientOptions = Partial<ConstructorParameters<typeof GoTrueClient>[0]>

/** What clients that share it take for the storage of one browser. */
export function createMemory() {
  const memory = new Map<string, string>()
  return {
    getItem: (key: string) => memory.get(key) ?? null,
    setItem: (key: string, value: string) => void memory.set(key, value),
    removeItem: (key: string) => void memory.delete(key),
  }
}

/** The client that applications use, unchanged, with a memory for its session. */
export function createAuthClient(url: string, options: AuthClientOptions = {}): AuthClient {
  return new GoTrueClient({
    url,
    autoRefreshToken: false,
    persistSession: true,
    storage: createMemory(),
    fetch: fetchReceived,
    ...options,
  })
}

/** Where a link led. */
export interface Followed {
  readonly status: number
  /** Without query and fragment. */
  readonly target: string
  readonly query: Readonly<Record<string, string>>
  readonly fragment: Readonly<Record<string, string>>
}

export interface ClientServer extends AuthServer {
  readonly mailbox: Mailbox
  createClient(options?: AuthClientOptions): AuthClient
  /** A client of a back end that may do everything. */
  readonly admin: AuthClient['admin']
  /** Somebody with a confirmed address and a password. */
  newUser(): Promise<{ readonly id: string; readonly email: string }>
  /** A client that this somebody has signed in with. */
  signIn(email: string, options?: AuthClientOptions): Promise<AuthClient>
}

const manyRequests = {
  AUTH_RATE_LIMIT_EMAIL_SENT: '1000000',
  AUTH_RATE_LIMIT_VERIFY: '1000000',
  AUTH_RATE_LIMIT_OTP: '1000000',
  AUTH_RATE_LIMIT_TOKEN_REFRESH: '1000000',
  AUTH_RATE_LIMIT_ANONYMOUS_USERS: '1000000',
} as const

/**
 * A server whose links work and whose messages arrive, without limits that a test does not ask
 * for. Undefined where PostgreSQL is missing.
 * @param other a server to share the database with, and the mailbox: either of them may send the
 * messages of both.
 */
export async function openClientServer(
  t: TestContext,
  env: Readonly<Record<string, string>> = {},
  other?: Pick<ClientServer, 'databaseUrl' | 'schema' | 'mailbox'>,
): Promise<ClientServer | undefined> {
  const mailbox = other?.mailbox ?? (await openMailbox(t))
  const port = await findFreePort()
  const server = await openAuthServer(t, {
    ...(other && { database: { url: other.databaseUrl, schema: other.schema } }),
    env: {
      ...manyRequests,
      AUTH_API_PORT: `${port}`,
      AUTH_API_EXTERNAL_URL: `http://127.0.0.1:${port}`,
      AUTH_MAILER_AUTOCONFIRM: 'false',
      AUTH_SMTP_ADMIN_EMAIL: 'auth@example.com',
      AUTH_SMTP_HOST: '127.0.0.1',
      AUTH_SMTP_PORT: `${mailbox.port}`,
      AUTH_SMTP_MAX_FREQUENCY: '0',
      ...env,
    },
  })
  if (!server) return undefined
  const { url, serviceToken } = server
  const headers = { Authorization: `Bearer ${serviceToken}` }
  const { admin } = createAuthClient(url, { headers })
  const createClient = (options?: AuthClientOptions) => createAuthClient(url, options)
  return {
    ...server,
    mailbox,
    createClient,
    admin,
    async newUser() {
      const email = newEmail()
      const { user } = dataOf(await admin.createUser({ email, password, email_confirm: true }))
      return { id: user.id, email }
    },
    async signIn(email, options) {
      const client = createClient(options)
      dataOf(await client.signInWithPassword({ email, password }))
      return client
    },
  }
}

/** Does with a link what a browser does up to the redirect. */
export async function follow(link: string): Promise<Followed> {
  const { status, headers } = await fetch(link, { redirect: 'manual' })
  const location = new URL(headers.get('location') ?? 'none:')
  return {
    status,
    target: `${location.origin}${location.pathname}`,
    query: Object.fromEntries(location.searchParams),
    fragment: Object.fromEntries(new URLSearchParams(location.hash.slice(1))),
  }
}

/** What the client does in a browser with the fragment of a link. */
export async function enterByFragment(
  client: AuthClient,
  { fragment }: Followed,
): ReturnType<AuthClient['setSession']> {
  const { access_token = '', refresh_token = '' } = fragment
  return await client.setSession({ access_token, refresh_token })
}

interface Result {
  readonly data: unknown
  readonly error: unknown
}

/** The data of an answer that must not be an error. */
export function dataOf<R extends Result>({ data, error }: R): Extract<R, { error: null }>['data'] {
  if (error) throw error
  return data
}

/** Code, status and text of an answer that must be an error. */
export function errorOf({ error }: { readonly error: unknown }): readonly unknown[] {
  if (!(error instanceof Error)) throw new Error('The client got no error')
  const { code, status } = error as { code?: unknown; status?: unknown }
  return [code, status, error.message]
}

/** The events of a client from now on, in their order, beginning with the first session. */
export async function watchEvents(client: AuthClient): Promise<readonly AuthChangeEvent[]> {
  const events: AuthChangeEvent[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  client.onAuthStateChange((event) => {
    events.push(event)
    if (event === 'INITIAL_SESSION') resolve()
  })
  await promise
  return events
}
