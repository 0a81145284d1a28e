import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ApiConfig } from '../../config/api.ts'
import type { ApiError } from '../../errors.ts'
import { type CallWatch, currentCall, type WatchedCall } from '../../telemetry/watched-call.ts'
import type { ClientAddresses } from './client-address.ts'

export interface WatchedCalls {
  /** Starts observing a request that the hooks of the server do not see. */
  begin(request: FastifyRequest, reply: FastifyReply): void
  /** Records the error of the response. */
  fail(request: FastifyRequest, failure: ApiError): void
  /** Runs work in the context of the request. */
  run<Result>(request: FastifyRequest, work: () => Promise<Result>): Promise<Result>
}

/** Notifies `watches` of every request, including those that do not reach an endpoint. */
export function watchCalls(
  server: FastifyInstance,
  watches: readonly CallWatch[],
  { pathPrefix }: Pick<ApiConfig, 'pathPrefix'>,
  addresses: ClientAddresses,
): WatchedCalls {
  const calls = new WeakMap<FastifyRequest, WatchedCall>()
  const toRoute = createRouteReader(pathPrefix)

  const begin = (request: FastifyRequest, reply: FastifyReply): void => {
    const startMs = performance.now()
    const call = toCall(request, toRoute(request.routeOptions?.url), addresses)
    calls.set(request, call)
    const enders = watches.map((watch) => watch.begin(call))
    // Emitted after the last byte or when the client disconnects, exactly once.
    reply.raw.once('close', () => {
      call.status = reply.raw.headersSent ? reply.raw.statusCode : 499
      call.durationMs = performance.now() - startMs
      for (const end of enders) end()
    })
  }
  if (watches.length > 0) {
    server.addHook('onRequest', (request, reply, done) => {
      begin(request, reply)
      done()
    })
  }
  return {
    begin(request, reply) {
      if (watches.length > 0) begin(request, reply)
    },
    fail(request, failure) {
      const call = calls.get(request)
      if (call !== undefined) call.failure = failure
    },
    run: (request, work) => currentCall.run(calls.get(request), work),
  }
}

interface Route {
  readonly text: string
  readonly names: readonly string[]
}

const noRoute: Route = { text: 'noroute', names: [] }

/**
 * `/auth/v1/admin/users/:user_id` becomes `/admin/users/{user_id}`, because both paths are one
 * endpoint.
 */
function createRouteReader(pathPrefix: string): (pattern: string | undefined) => Route {
  const known = new Map<string, Route>()
  return (pattern) => {
    if (pattern === undefined) return noRoute
    const route = known.get(pattern) ?? toRoute(pattern, pathPrefix)
    known.set(pattern, route)
    return route
  }
}

function toRoute(pattern: string, pathPrefix: string): Route {
  const path = pattern.startsWith(`${pathPrefix}/`) ? pattern.slice(pathPrefix.length) : pattern
  return {
    text: path.replaceAll(/:(\w+)/g, '{$1}'),
    names: [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name),
  }
}

function toCall(request: FastifyRequest, route: Route, addresses: ClientAddresses): WatchedCall {
  const { headers } = request
  const header = (name: string) => toText(headers, name)
  const url = request.raw.url ?? ''
  const queryAt = url.search(/[?#]/)
  const params = (request.params ?? {}) as Readonly<Record<string, string>>
  const { grant_type: grantType } = (request.query ?? {}) as Readonly<Record<string, unknown>>
  return {
    method: request.method,
    path: (queryAt < 0 ? url : url.slice(0, queryAt)).slice(0, 1_024),
    route: route.text,
    params: Object.fromEntries(route.names.map((name) => [name, params[name] ?? ''])),
    header,
    requestId: request.id,
    address: addresses.find(headers, request.ip).ip,
    userAgent: (headers['user-agent'] ?? '').slice(0, 512),
    // A client that confuses parameters may send a secret here, so only known shapes are logged.
    grantType:
      /^[a-z\d_]{1,24}$/.test(`${grantType}`) && route.text === '/token'
        ? `${grantType}`
        : undefined,
    audited: [],
    status: 0,
    durationMs: 0,
  }
}

function toText(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value.join(',') : value
}
