import type { IncomingHttpHeaders } from 'node:http'
import type { Log } from '@portcullis/service-kit/log'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { LimiterName } from '../core/request-limits.ts'
import type { Services } from '../core/services.ts'
import { ApiError } from '../errors.ts'
import { toExternalUrl } from '../messages/confirmation-link.ts'
import type { Answer, Call } from './call.ts'
import { addCors } from './cors.ts'
import { isSdkDialect } from './dialect.ts'
import type { Endpoint } from './endpoint.ts'
import { apiVersion, toErrorAnswer, toUnexpected, versionHeader } from './error-body.ts'
import { findAdminRole } from './guards/admin.ts'
import { readBearer } from './guards/bearer.ts'
import { findUserOfClaims } from './guards/caller.ts'
import { findAddress, findLimitKey } from './guards/client.ts'
import { dropNulls } from './null-fields.ts'
import { toRequestId } from './request-id.ts'

export interface ServerParts {
  readonly endpoints: readonly Endpoint[]
  readonly services: Services
  readonly log: Log
}

/** On every answer: tokens are for the caller alone, and no browser should guess at anything. */
const safeHeaders = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

export function createServer({ endpoints, services, log }: ServerParts): FastifyInstance {
  const { api, limits, tokens } = services.config
  const server = Fastify({
    bodyLimit: api.bodyLimitBytes,
    routerOptions: { ignoreTrailingSlash: true },
    genReqId: ({ headers }) => toRequestId(one(headers, api.requestIdHeader ?? '')),
    // Upstream takes any type; the body of a DELETE may be empty.
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false } },
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
  })
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'string' }, (_request, text, done) => {
    try {
      done(null, text === '' ? {} : dropNulls(JSON.parse(`${text}`)))
    } catch (error) {
      const detail = error instanceof Error ? error.message : 'it is not JSON'
      done(new ApiError('bad_json', `Could not parse request body as JSON: ${detail}`))
    }
  })
  addCors(server, api.corsAllowedHeaders)

  const isSdk = ({ headers }: FastifyRequest) =>
    isSdkDialect(api.compatMode, one(headers, versionHeader))

  const send = (reply: FastifyReply, { status, body, headers }: Answer) => {
    reply.headers({ ...safeHeaders, ...headers }).code(status)
    // Fastify would answer an object without a type as JSON by itself, and a missing one not at all.
    return body === undefined ? reply.send() : reply.type('application/json').send(body)
  }
  const fail = (request: FastifyRequest, reply: FastifyReply, error: unknown) => {
    const known = toApiError(error, api.bodyLimitBytes)
    if (known.status >= 500) {
      const reason = known.cause instanceof Error ? (known.cause.stack ?? known.cause.message) : ''
      log.error(() => `request ${request.id} failed: ${known.message} ${reason}`.trim())
    }
    return send(reply, toErrorAnswer(known, isSdk(request), request.id))
  }
  server.setErrorHandler((error, request, reply) => fail(request, reply, error))
  server.setNotFoundHandler((request, reply) =>
    fail(request, reply, new ApiError('route_not_found', `There is no ${request.method} here`)),
  )

  for (const endpoint of endpoints) {
    const { method, path, body, limiter, allowed } = endpoint
    for (const prefix of new Set(['', api.pathPrefix])) {
      server.route({
        method,
        url: `${prefix}${path}`,
        ...(body && { schema: { body } }),
        async preValidation(request) {
          if (limiter !== undefined) await checkLimit(request, limiter)
        },
        async handler(request, reply) {
          const call = await toCall(request, allowed)
          return send(reply, await endpoint.handle(call, services))
        },
      })
    }
  }

  async function checkLimit(request: FastifyRequest, limiter: LimiterName): Promise<void> {
    const header = limits.header && one(request.headers, limits.header)
    const key = findLimitKey(header, request.ip)
    const waitSeconds = await services.requestLimits.take(limiter, key)
    if (waitSeconds === undefined) return
    throw new ApiError('over_request_rate_limit', 'Request rate limit reached', {
      retryAfterSeconds: waitSeconds,
    })
  }

  async function toCall(
    request: FastifyRequest,
    allowed: Endpoint['allowed'],
  ): Promise<Call<never>> {
    const { headers } = request
    const header = (name: string) => one(headers, name)
    const claims =
      allowed === 'anyone'
        ? undefined
        : readBearer(headers.authorization, services.signer, services.now())
    const isUser = allowed === 'user' || allowed === 'former user'
    const caller =
      claims && isUser
        ? await findUserOfClaims(claims, services, allowed === 'former user')
        : undefined
    const adminRole =
      claims && allowed === 'admin' ? await findAdminRole(claims, services) : undefined
    const claimed = typeof claims?.['aud'] === 'string' && !adminRole ? claims['aud'] : undefined
    return {
      body: request.body as never,
      query: toFirstValues(request.query),
      params: request.params as Call['params'],
      header,
      isSdk: isSdk(request),
      client: {
        ip: findAddress(header('x-forwarded-for'), request.ip),
        userAgent: (headers['user-agent'] ?? '').slice(0, 512),
      },
      requestId: request.id,
      externalUrl: toExternalUrl({
        externalUrl: api.externalUrl,
        externalHosts: services.config.mail.externalHosts,
        host: header('x-forwarded-host'),
        proto: header('x-forwarded-proto'),
      }),
      checkLimit: (limiter) => checkLimit(request, limiter),
      audience: header('x-jwt-aud') ?? claimed ?? tokens.audience,
      caller,
      adminRole,
    }
  }

  server.addHook('onSend', async (request, reply) => {
    if (isSdk(request)) reply.header(versionHeader, apiVersion)
  })
  return server
}

/** Of a parameter that is given twice the first value counts. */
function toFirstValues(query: unknown): Call['query'] {
  const entries = Object.entries(query as Readonly<Record<string, string | string[]>>)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  )
}

function one(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}

interface FastifyFailure {
  readonly code?: string
  readonly validation?: readonly { readonly instancePath: string; readonly message?: string }[]
}

function toApiError(error: unknown, bodyLimitBytes: number): ApiError {
  if (error instanceof ApiError) return error
  const { code, validation } = (error ?? {}) as FastifyFailure
  if (validation !== undefined) {
    const [first] = validation
    const where = first?.instancePath.slice(1).replaceAll('/', '.') || 'the body'
    return new ApiError(
      'bad_json',
      `Could not parse request body as JSON: ${where} ${first?.message ?? 'is not right'}`,
    )
  }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    const message = `Request body too large (max ${bodyLimitBytes} bytes)`
    return new ApiError('request_entity_too_large', message)
  }
  return toUnexpected(error)
}
