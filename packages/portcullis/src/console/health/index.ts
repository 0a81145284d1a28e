import { ConsoleError } from '../errors.ts'
import type { AuthTarget, ConsoleSettings, GraphqlTarget, RatelimitTarget } from '../settings.ts'
import { callUpstream, toFetchReason } from '../upstream.ts'

export type Checks = Partial<Readonly<Record<PartName, CheckPart>>>

/** The console and the mailbox run in this process. */
export const processStartedAt = Math.round(Date.now() - process.uptime() * 1000)

/** Creates the health checks of the parts that the console is configured with. */
export function createChecks(settings: Omit<ConsoleSettings, 'host' | 'port' | 'token'>): Checks {
  const { auth, ratelimit, graphql, mailbox, version } = settings
  return {
    ...(auth && { auth: createAuthCheck(auth) }),
    ...(ratelimit && { ratelimit: createRatelimitCheck(ratelimit) }),
    ...(graphql && { graphql: createGraphqlCheck(graphql) }),
    ...(mailbox && {
      mailbox: async () => ({
        state: 'up' as const,
        startedAt: processStartedAt,
        address: `SMTP ${mailbox.smtpAddress}`,
        detail: describeCount(mailbox.list().length),
      }),
    }),
    console: async () => ({ state: 'up', version, startedAt: processStartedAt }),
  }
}

function describeCount(count: number): string {
  return count === 1 ? '1 message' : `${count} messages`
}

const authName = 'The auth server'

/** Checks that the server is up and accepts the key. Also works with Supabase Auth. */
export function createAuthCheck({ url, key }: AuthTarget): CheckPart {
  return async (signal) => {
    try {
      const options = { headers: toKeyHeaders(await key()), ...(signal && { signal }) }
      const health = await callWithTimeout(authName, `${url}/health`, options)
      if (health.status !== 200) return toDegraded(health, `${url}/health`)
      const users = await callWithTimeout(authName, `${url}/admin/users?page=1&per_page=1`, options)
      return { ...toHealth(health), ...judgeKey(users), ...(await findStart(url, options)) }
    } catch (error) {
      return toDownHealth(error)
    }
  }
}

/** The gateway of hosted Supabase projects requires `apikey`, even for health checks. */
export function toKeyHeaders(key: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${key}`, apikey: key }
}

function toHealth({ text, latencyMs }: Answer): PartHealth {
  const { name: product, version } = parseObject(text) ?? {}
  const toText = (value: unknown) => (typeof value === 'string' ? value : undefined)
  return { state: 'up', product: toText(product), version: toText(version), latencyMs }
}

/** Supabase Auth does not report when it started. */
async function findStart(url: string, options: RequestInit): Promise<Partial<PartHealth>> {
  const since = encodeURIComponent(new Date().toISOString())
  const { status, text } = await callWithTimeout(
    authName,
    `${url}/admin/sign-ins?since=${since}`,
    options,
  )
  if (status !== 200) return {}
  const { started_at: startedAt } = parseObject(text) ?? {}
  return typeof startedAt === 'string' ? { startedAt: Date.parse(startedAt) } : {}
}

function toDegraded({ status, latencyMs }: Answer, url: string): PartHealth {
  return {
    state: 'degraded',
    latencyMs,
    detail: `${url} responded with status ${status} instead of 200`,
  }
}

function judgeKey({ status, headers }: Answer): Partial<PartHealth> {
  if (status === 200) {
    const total = headers.get('x-total-count')
    return total === null ? {} : { users: Number(total) }
  }
  if (status === 401 || status === 403) {
    return {
      state: 'degraded',
      detail: `The server refused the service key (status ${status}). Use a service key of this server.`,
    }
  }
  return { state: 'degraded', detail: `GET /admin/users responded with status ${status}` }
}

const graphqlName = 'The GraphQL API'
const query = JSON.stringify({ query: '{ __typename }' })

/**
 * A query shows whether the URL is a GraphQL API. Queries may count against a rate limit; without headers that
 * exempt them, later checks only test that the server still responds.
 */
function createGraphqlCheck(target: GraphqlTarget): CheckPart {
  const check = createAnswerCheck(target)
  return async (signal) => ({ ...(await check(signal)), startedAt: target.startedAt })
}

function createAnswerCheck({ url, auditHeaders }: GraphqlTarget): CheckPart {
  let hasAnswered = false
  return async (signal) => {
    const options = signal ? { signal } : {}
    try {
      if (hasAnswered && auditHeaders === undefined) {
        const { latencyMs } = await callWithTimeout(
          graphqlName,
          new URL('/health', url).href,
          options,
        )
        return { state: 'up', latencyMs }
      }
      const answer = await callWithTimeout(graphqlName, url, {
        ...options,
        method: 'POST',
        headers: {
          ...auditHeaders,
          'content-type': 'application/json',
          accept: 'application/graphql-response+json, application/json',
        },
        body: query,
      })
      const health = judge(answer)
      hasAnswered = health.state === 'up'
      return health
    } catch (error) {
      hasAnswered = false
      return toDownHealth(error)
    }
  }
}

function judge({ status, text, latencyMs }: Answer): PartHealth {
  if (status === 429)
    return { state: 'up', latencyMs, detail: 'Rate limit reached for this address' }
  const content = parseObject(text)
  if (content && 'data' in content) return { state: 'up', latencyMs }
  // An error such as a missing token still shows that the server speaks GraphQL.
  if (content && 'errors' in content)
    return { state: 'up', latencyMs, detail: 'Requires authentication' }
  return {
    state: 'degraded',
    latencyMs,
    detail: `Status ${status}, and the response is not a GraphQL response`,
  }
}

const ratelimitName = 'The rate limit service'

/** The debug port must respond; `/healthcheck` is checked too if its URL is known. */
function createRatelimitCheck({ debugUrl, url }: RatelimitTarget): CheckPart {
  return async (signal) => {
    const options = signal ? { signal } : {}
    try {
      // The index of the debug port; `/stats` itself can be long.
      const debug = await callWithTimeout(ratelimitName, `${debugUrl}/`, options)
      if (!debug.text.includes('/stats')) {
        const detail = `${debugUrl} is not the debug port of a rate limit service (status ${debug.status})`
        return { state: 'degraded', latencyMs: debug.latencyMs, detail }
      }
      if (url === undefined) return { state: 'up', latencyMs: debug.latencyMs }
      const { status, latencyMs } = await callWithTimeout(
        ratelimitName,
        `${url}/healthcheck`,
        options,
      )
      if (status === 200) return { state: 'up', latencyMs }
      const detail = `/healthcheck responded with status ${status}: the service is not ready, or is stopping`
      return { state: 'degraded', latencyMs, detail }
    } catch (error) {
      return toDownHealth(error)
    }
  }
}

export type PartName = 'console' | 'auth' | 'ratelimit' | 'graphql' | 'mailbox'

export interface PartHealth {
  /** `degraded`: the part responds, but something is wrong. */
  readonly state: 'up' | 'degraded' | 'down'
  /** The product name that it reports, if any. */
  readonly product?: string | undefined
  readonly version?: string | undefined
  /** Its address, if it is not known otherwise. */
  readonly address?: string | undefined
  /** The response time. */
  readonly latencyMs?: number | undefined
  /** An error, or additional information. */
  readonly detail?: string | undefined
  /** Milliseconds since the epoch, if the part reports it. */
  readonly startedAt?: number | undefined
  /** The number of users of an auth server. */
  readonly users?: number | undefined
}

/** Checks the health of a part; never rejects. */
export type CheckPart = (signal?: AbortSignal) => Promise<PartHealth>

const timeoutMs = 5_000

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly latencyMs: number
}

/** Sends one request with a shorter timeout than other calls. */
export async function callWithTimeout(
  name: string,
  url: string,
  { signal, ...options }: RequestInit = {},
): Promise<Answer> {
  const late = AbortSignal.timeout(timeoutMs)
  const startedAt = performance.now()
  const answer = await callUpstream(name, url, {
    ...options,
    signal: signal ? AbortSignal.any([signal, late]) : late,
  })
  const latencyMs = performance.now() - startedAt
  return { status: answer.status, headers: answer.headers, text: await answer.text(), latencyMs }
}

/** @returns undefined if the text is not a JSON object. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? { ...value }
      : undefined
  } catch {
    return undefined
  }
}

/** Leaves out the name and the URL, which are shown beside the message. */
function toDownHealth(error: unknown): PartHealth {
  const reason = error instanceof ConsoleError ? error.cause : error
  return { state: 'down', detail: toFetchReason(reason) }
}
