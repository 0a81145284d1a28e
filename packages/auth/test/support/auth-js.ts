import type { TestContext } from 'node:test'
import { findFreePort } from '@portcullis/test-servers'
import { type AuthChangeEvent, GoTrueClient } from '@supabase/auth-js'
import { type AuthServer, openAuthServer } from './auth-server.ts'
import { fetchReceived, newEmail, password } from './http-client.ts'
import { type Mailbox, openMailbox } from './mailbox.ts'

export type AuthClient = GoTrueClient
export type AuthClientOptions = Partial<ConstructorParameters<typeof GoTrueClient>[0]>

/** In-memory session storage; clients that share it behave like tabs of one browser. */
export function createMemory() {
  const memory = new Map<string, string>()
  return {
    getItem: (key: string) => memory.get(key) ?? null,
    setItem: (key: string, value: string) => void memory.set(key, value),
    removeItem: (key: string) => void memory.delete(key),
  }
}

/** The unmodified client library, with in-memory session storage. */
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

/** The redirect that a link returned. */
export interface LinkRedirect {
  readonly status: number
  /** The URL without query and fragment. */
  readonly target: string
  readonly query: Readonly<Record<string, string>>
  readonly fragment: Readonly<Record<string, string>>
}

export interface ClientServer extends AuthServer {
  readonly mailbox: Mailbox
  createClient(options?: AuthClientOptions): AuthClient
  /** An admin client with the service token. */
  readonly admin: AuthClient['admin']
  /** Creates a user with a confirmed email address and a password. */
  newUser(): Promise<{ readonly id: string; readonly email: string }>
  /** Returns a client that is signed in as this user. */
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
 * Opens a server with working links and a mailbox, and without the limits that a test does not set.
 * Returns undefined if PostgreSQL is missing.
 * @param other a server that shares its database and mailbox; either server may send the messages
 * of both.
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

/** Requests a link like a browser, without following the redirect. */
export async function follow(link: string): Promise<LinkRedirect> {
  const { status, headers } = await fetch(link, { redirect: 'manual' })
  const location = new URL(headers.get('location') ?? 'none:')
  return {
    status,
    target: `${location.origin}${location.pathname}`,
    query: Object.fromEntries(location.searchParams),
    fragment: Object.fromEntries(new URLSearchParams(location.hash.slice(1))),
  }
}

/** Signs the client in with the tokens in the fragment, as in a browser. */
export async function enterByFragment(
  client: AuthClient,
  { fragment }: LinkRedirect,
): ReturnType<AuthClient['setSession']> {
  const { access_token = '', refresh_token = '' } = fragment
  return await client.setSession({ access_token, refresh_token })
}

interface Result {
  readonly data: unknown
  readonly error: unknown
}

/** Returns the data of a response and throws its error. */
export function dataOf<R extends Result>({ data, error }: R): Extract<R, { error: null }>['data'] {
  if (error) throw error
  return data
}

/** Returns code, status and message of a response that must be an error. */
export function errorOf({ error }: { readonly error: unknown }): readonly unknown[] {
  if (!(error instanceof Error)) throw new Error('The client returned no error')
  const { code, status } = error as { code?: unknown; status?: unknown }
  return [code, status, error.message]
}

/** Collects the events of a client in order, starting with the initial session. */
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
