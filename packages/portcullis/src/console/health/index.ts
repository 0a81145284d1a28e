import { ConsoleError } from '../errors.ts'
import type { AuthTarget, ConsoleSettings, GraphqlTarget, RatelimitTarget } from '../settings.ts'
import { callUpstream, toReason } from '../upstream.ts'

export type Checks = Partial<Readonly<Record<PartName, CheckPart>>>

/** The console and the mailbox run in this process. */
export const processStartedAt = Math.round(Date.now() - process.uptime() * 1000)

/** How to ask each part that the console was given. */
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
        detail: toCaught(mailbox.list().length),
      }),
    }),
    console: async () => ({ state: 'up', version, startedAt: processStartedAt }),
  }
}

function toCaught(count: number): string {
  return count === 1 ? '1 message caught' : `${count} messages caught`
}

const authName = 'The auth server'

/** Is it there, and does it take our key? Supabase Auth answers the same questions. */
export function createAuthCheck({ url, key }: AuthTarget): CheckPart {
  return async (signal) => {
    try {
      const options = { headers: toKeyHeaders(await key()), ...(signal && { signal }) }
      const health = await ask(authName, `${url}/health`, options)
      if (health.status !== 200) return toTrouble(health, `${url}/health`)
      const users = await ask(authName, `${url}/admin/users?page=1&per_page=1`, options)
      return { ...toHealth(health), ...judgeKey(users), ...(await findStart(url, options)) }
    } catch (error) {
      return toDown(error)
    }
  }
}

/** The gateway before a hosted server asks for the second one, even for its health. */
export function toKeyHeaders(key: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${key}`, apikey: key }
}

function toHealth({ text, latencyMs }: Answer): PartHealth {
  const { name: product, version } = parseObject(text) ?? {}
  const toText = (value: unknown) => (typeof value === 'string' ? value : undefined)
  return { state: 'up', product: toText(product), version: toText(version), latencyMs }
}

/** Supabase Auth does not say when it started. */
async function findStart(url: string, options: RequestInit): Promise<Partial<PartHealth>> {
  const since = encodeURIComponent(new Date().toISOString())
  const { status, text } = await ask(authName, `${url}/admin/sign-ins?since=${since}`, options)
  if (status !== 200) return {}
  const { started_at: startedAt } = parseObject(text) ?? {}
  return typeof startedAt === 'string' ? { startedAt: Date.parse(startedAt) } : {}
}

function toTrouble({ status, latencyMs }: Answer, url: string): PartHealth {
  return { state: 'troubled', latencyMs, detail: `${url} answers ${status} instead of 200` }
}

function judgeKey({ status, headers }: Answer): Partial<PartHealth> {
  if (status === 200) {
    const total = headers.get('x-total-count')
    return total === null ? {} : { users: Number(total) }
  }
  if (status === 401 || status === 403) {
    return {
      state: 'troubled',
      detail: `It refuses the console's key (${status}): a service key of this server is needed`,
    }
  }
  return { state: 'troubled', detail: `GET /admin/users answers ${status}` }
}

const graphqlName = 'The GraphQL API'
const query = JSON.stringify({ query: '{ __typename }' })

/**
 * A query tells whether it is one. But queries may be counted against a limit: unless ours are not, it is
 * enough after the first answer that somebody is still there.
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
        const { latencyMs } = await ask(graphqlName, new URL('/health', url).href, options)
        return { state: 'up', latencyMs }
      }
      const answer = await ask(graphqlName, url, {
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
      return toDown(error)
    }
  }
}

function judge({ status, text, latencyMs }: Answer): PartHealth {
  if (status === 429) return { state: 'up', latencyMs, detail: 'At its limit for this address' }
  const content = parseObject(text)
  if (content && 'data' in content) return { state: 'up', latencyMs }
  // Who may ask is its own business; it did understand that it was asked.
  if (content && 'errors' in content) return { state: 'up', latencyMs, detail: 'Refuses strangers' }
  return { state: 'troubled', latencyMs, detail: `It answers ${status}, and not as GraphQL does` }
}

const ratelimitName = 'The rate limit service'

/** The debug page must be there; what `/healthcheck` says counts where its address is known. */
function createRatelimitCheck({ debugUrl, url }: RatelimitTarget): CheckPart {
  return async (signal) => {
    const options = signal ? { signal } : {}
    try {
      // The list of debug pages: `/stats` itself can be long.
      const debug = await ask(ratelimitName, `${debugUrl}/`, options)
      if (!debug.text.includes('/stats')) {
        const detail = `${debugUrl} is no debug page of a rate limit service (${debug.status})`
        return { state: 'troubled', latencyMs: debug.latencyMs, detail }
      }
      if (url === undefined) return { state: 'up', latencyMs: debug.latencyMs }
      const { status, latencyMs } = await ask(ratelimitName, `${url}/healthcheck`, options)
      if (status === 200) return { state: 'up', latencyMs }
      const detail = `Its /healthcheck answers ${status}: it cannot decide, or is about to stop`
      return { state: 'troubled', latencyMs, detail }
    } catch (error) {
      return toDown(error)
    }
  }
}

export type PartName = 'console' | 'auth' | 'ratelimit' | 'graphql' | 'mailbox'

/** How one part is doing. */
export interface PartHealth {
  /** Troubled: it answers, but not all is well. */
  readonly state: 'up' | 'troubled' | 'down'
  /** What it calls itself, where it says so. */
  readonly product?: string | undefined
  readonly version?: string | undefined
  /** Where it is, when nothing else says so. */
  readonly address?: string | undefined
  /** How long it took to answer. */
  readonly latencyMs?: number | undefined
  /** What is wrong, or worth knowing. */
  readonly detail?: string | undefined
  /** Milliseconds since the epoch, where it tells. */
  readonly startedAt?: number | undefined
  /** How many users an auth server has. */
  readonly users?: number | undefined
}

/** Asks a part how it is doing; never rejects. */
export type CheckPart = (signal?: AbortSignal) => Promise<PartHealth>

const timeoutMs = 5_000

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly latencyMs: number
}

/** Asks a server once, with less patience than a person who waits for a page. */
export async function ask(
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

/** @returns undefined for what is no JSON object. */
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

/** Without its name and address: whoever reads this has them before their eyes. */
export function toDown(error: unknown): PartHealth {
  const reason = error instanceof ConsoleError ? error.cause : error
  return { state: 'down', detail: toReason(reason) }
}
