import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import {
  type AccessTokenClaims,
  AuthUnavailableError,
  createVerifier,
  TokenError,
  type Verifier,
} from '@portcullis/auth/verify'
import { createHandler } from '@portcullis/graphql-over-http/use/http'
import { type Context, schema, type User } from './schema.ts'

/** Options of {@link openApi}. */
export interface ApiSettings {
  /** Of the auth server; without them nobody is signed in. */
  readonly signingKeys?: SigningKeys
  /** Of the rate limit service; without it nobody is limited. */
  readonly ratelimitUrl?: string
  /** Whether a request is one of those that have a limit. Default: all are. */
  readonly countsRequest?: (request: IncomingMessage) => boolean
}

/** A GraphQL API that knows who is asking and lets nobody ask too often. */
export function openApi({
  signingKeys,
  ratelimitUrl,
  countsRequest = () => true,
}: ApiSettings): RequestListener {
  const identify: Identify = signingKeys ? createIdentify(signingKeys) : async () => ({})
  const countRequest = ratelimitUrl === undefined ? undefined : createCountRequest(ratelimitUrl)
  const users = new WeakMap<IncomingMessage, User>()
  const handler = createHandler<Context>({
    schema,
    context: (request) => ({ user: users.get(request.raw) }),
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { user, fault } = await identify(request.headers.authorization)
    // Requests with a bad token are counted by address: guessing has a limit too.
    const address = request.socket.remoteAddress ?? 'unknown'
    const count = countsRequest(request) ? countRequest : undefined
    const decision = user ? await count?.('user', user.id) : await count?.('address', address)
    for (const [name, value] of decision?.headers ?? []) response.setHeader(name, value)
    if (decision?.isAllowed === false) {
      const { retryAfterSeconds } = decision
      response.setHeader('retry-after', retryAfterSeconds)
      refuse(response, 429, `Too many requests. Try again in ${retryAfterSeconds} s.`)
    } else if (fault) {
      response.setHeader('www-authenticate', 'Bearer error="invalid_token"')
      refuse(response, 401, `The access token was refused: ${fault}. Sign in again.`)
    } else {
      if (user) users.set(request, user)
      await handler(request, response)
    }
  }

  return (request, response) => {
    if (request.url?.split('?')[0] !== '/graphql') {
      response.writeHead(404).end('There is nothing here. Try /graphql\n')
      return
    }
    answer(request, response).catch((error: unknown) => {
      console.error(error)
      if (response.headersSent) response.destroy()
      else if (error instanceof AuthUnavailableError) {
        response.setHeader('retry-after', 1)
        refuse(response, 503, 'The auth server cannot be reached. Try again.')
      } else refuse(response, 500, 'Something went wrong here.')
    })
  }
}

/** In the shape of GraphQL, so that its clients understand it. */
function refuse(response: ServerResponse, status: 401 | 429 | 500 | 503, message: string): void {
  response.writeHead(status, { 'content-type': 'application/graphql-response+json; charset=utf-8' })
  response.end(JSON.stringify({ errors: [{ message, extensions: { status } }] }))
}

interface Caller {
  /** Undefined if the caller is not signed in. */
  readonly user?: User
  /** Why the token was refused. */
  readonly fault?: string
}

/** @throws {AuthUnavailableError} if the keys of the auth server cannot be fetched. */
type Identify = (authorization: string | undefined) => Promise<Caller>

/** What the auth server signs with: a secret that it shares, or keys whose public halves it publishes. */
type SigningKeys = { readonly secret: string } | { readonly authUrl: string }

/** Identifies callers by the access tokens of the auth server, without a request to that server. */
function createIdentify(keys: SigningKeys): Identify {
  const verifier: Verifier = createVerifier(keys)
  return async (authorization) => {
    if (authorization === undefined) return {}
    try {
      return { user: toUser(await verifier.verifyHeader(authorization)) }
    } catch (error) {
      if (error instanceof TokenError) return { fault: error.message }
      throw error
    }
  }
}

function toUser({ sub, email }: AccessTokenClaims): User {
  return { id: sub, email: email || undefined }
}

const timeoutMs = 1_000

/** The part of the service's answer that we need. */
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

type CountRequest = (key: 'user' | 'address', value: string) => Promise<Decision>

/** Counts requests as the rules of the domain `graphql` say; the rate limit service decides. */
function createCountRequest(ratelimitUrl: string): CountRequest {
  return async (key, value) => {
    try {
      const response = await fetch(`${ratelimitUrl}/json`, {
        method: 'POST',
        body: JSON.stringify({ domain: 'graphql', descriptors: [{ entries: [{ key, value }] }] }),
        signal: AbortSignal.timeout(timeoutMs),
      })
      // 429 is an answer too.
      if (!response.ok && response.status !== 429) throw new Error(`status ${response.status}`)
      return toDecision(await response.json())
    } catch (error) {
      // No limits for a while are better than no API for a while. You may think otherwise.
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

/** `fetch` keeps the interesting half to itself. */
function toReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : error.message
}
