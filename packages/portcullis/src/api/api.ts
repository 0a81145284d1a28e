import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { AuthUnavailableError, type Verifier } from '@portcullis/auth/verify'
import { createHandler } from '@portcullis/graphql-over-http/use/http'
import { type Caller, createIdentify, type Identify, type KeyOptions } from './callers.ts'
import { type Context, schema, type User } from './schema.ts'

/** Options of {@link openApi}. */
export interface ApiSettings {
  /** Verifies access tokens. Without it every caller is anonymous. The caller closes it. */
  readonly verifier?: Verifier
  /** Accepts API keys as well as tokens. Default: a program exchanges its key for a token first. */
  readonly keys?: KeyOptions
  /** The URL of the rate limit service. Without it requests are not limited. */
  readonly ratelimitUrl?: string
  /** Whether a request counts towards the limits. Default: every request does. */
  readonly countsRequest?: (request: IncomingMessage) => boolean
}

/** A GraphQL API that identifies its callers and limits their requests. */
export function openApi({
  verifier,
  keys,
  ratelimitUrl,
  countsRequest = () => true,
}: ApiSettings): RequestListener {
  const identify: Identify = verifier ? createIdentify(verifier, keys) : async () => ({})
  const countRequest = ratelimitUrl === undefined ? undefined : createCountRequest(ratelimitUrl)
  const users = new WeakMap<IncomingMessage, User>()
  const handler = createHandler<Context>({
    schema,
    context: (request) => ({ user: users.get(request.raw) }),
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { remoteAddress } = request.socket
    const caller = await identify(request.headers.authorization, remoteAddress)
    const { user, fault } = caller
    const count = countsRequest(request) ? countRequest : undefined
    const decision = await count?.(toEntries(caller, remoteAddress ?? 'unknown'))
    for (const [name, value] of decision?.headers ?? []) response.setHeader(name, value)
    const retryAfterSeconds =
      decision?.isAllowed === false ? decision.retryAfterSeconds : caller.retryAfterSeconds
    if (retryAfterSeconds !== undefined) {
      response.setHeader('retry-after', retryAfterSeconds)
      refuse(response, 429, `Too many requests. Try again in ${retryAfterSeconds} s.`)
    } else if (fault) {
      response.setHeader('www-authenticate', 'Bearer error="invalid_token"')
      refuse(response, 401, fault)
    } else {
      if (user) users.set(request, user)
      await handler(request, response)
    }
  }

  return (request, response) => {
    if (request.url?.split('?')[0] !== '/graphql') {
      response.writeHead(404).end('Not found. The API is at /graphql\n')
      return
    }
    answer(request, response).catch((error: unknown) => {
      console.error(error)
      if (response.headersSent) response.destroy()
      else if (error instanceof AuthUnavailableError) {
        response.setHeader('retry-after', 1)
        refuse(response, 503, 'The auth server cannot be reached. Try again.')
      } else refuse(response, 500, 'Internal server error.')
    })
  }
}

/** Sends the error as a GraphQL response, so that GraphQL clients can read it. */
function refuse(response: ServerResponse, status: 401 | 429 | 500 | 503, message: string): void {
  response.writeHead(status, { 'content-type': 'application/graphql-response+json; charset=utf-8' })
  response.end(JSON.stringify({ errors: [{ message, extensions: { status } }] }))
}

interface Entry {
  readonly key: 'user' | 'address' | 'plan' | 'key_id'
  readonly value: string
}

/** The descriptor of a request. Each API key has a counter, and the plan decides on its limit. */
function toEntries({ user, key }: Caller, address: string): readonly Entry[] {
  if (key) {
    return [
      { key: 'plan', value: key.plan },
      { key: 'key_id', value: key.id },
    ]
  }
  if (user) return [{ key: 'user', value: user.id }]
  // Requests with an invalid token count against the client's address, which limits guessing.
  return [{ key: 'address', value: address }]
}

const timeoutMs = 1_000

/** The fields of the service's response that are used here. */
interface Answer {
  readonly overallCode: 'OK' | 'OVER_LIMIT'
  readonly statuses: readonly { readonly durationUntilReset?: string }[]
  readonly responseHeadersToAdd?: readonly { readonly key: string; readonly value: string }[]
}

interface Decision {
  readonly isAllowed: boolean
  readonly retryAfterSeconds: number
  readonly headers: readonly (readonly [name: string, value: string])[]
}

type CountRequest = (entries: readonly Entry[]) => Promise<Decision>

/** Requests decisions from the rate limit service, by the rules of the domain `graphql`. */
function createCountRequest(ratelimitUrl: string): CountRequest {
  return async (entries) => {
    try {
      const response = await fetch(`${ratelimitUrl}/json`, {
        method: 'POST',
        body: JSON.stringify({ domain: 'graphql', descriptors: [{ entries }] }),
        signal: AbortSignal.timeout(timeoutMs),
      })
      // With status 429 the body still contains a decision.
      if (!response.ok && response.status !== 429) throw new Error(`status ${response.status}`)
      return toDecision(await response.json())
    } catch (error) {
      // Fail open: an API without limits for a while is better than no API. To fail closed, rethrow here.
      console.error(`The rate limit could not be checked: ${toReason(error)}`)
      return { isAllowed: true, retryAfterSeconds: 0, headers: [] }
    }
  }
}

function toDecision({ overallCode, statuses, responseHeadersToAdd = [] }: Answer): Decision {
  return {
    isAllowed: overallCode === 'OK',
    retryAfterSeconds: Math.max(1, Number.parseInt(statuses[0]?.durationUntilReset ?? '1', 10)),
    headers: responseHeadersToAdd.map(({ key, value }) => [key, value]),
  }
}

/** `fetch` puts the actual reason into the cause. */
function toReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : error.message
}
