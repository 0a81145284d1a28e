import { type IncomingHttpHeaders, validateHeaderName, validateHeaderValue } from 'node:http'
import type { Log } from '@portcullis/service-kit/log'
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifySchema,
  type FastifySchemaCompiler,
} from 'fastify'
import { DatabaseLostError } from '../db/database-lost-error.ts'
import { ApiError } from '../errors.ts'
import { toExternalUrl } from '../features/redirects/confirmation-link.ts'
import type { LimiterName } from '../limits/request-limits.ts'
import { guardCodes } from '../messages/requests/daily-codes.ts'
import type { Services } from '../services.ts'
import type { CallWatch } from '../telemetry/watched-call.ts'
import { checkAudience } from '../tokens/audiences.ts'
import type { Answer, Call } from './call.ts'
import { isSdkDialect, wantsVersionedErrors } from './dialect.ts'
import type { Endpoint } from './endpoint.ts'
import { toRequestId } from './request-id.ts'
import { countRequests, toSlowClientOptions } from './slow-clients.ts'
import { findAdminRole } from './stages/admin.ts'
import { readBearer } from './stages/bearer.ts'
import { findUserOfClaims } from './stages/caller.ts'
import { checkCaptcha } from './stages/captcha.ts'
import { createClientAddresses } from './stages/client-address.ts'
import { addCors } from './stages/cors.ts'
import { addDeadline } from './stages/deadline.ts'
import {
  apiVersion,
  requestIdHeader,
  toDatabaseLost,
  toErrorAnswer,
  toRequestTimeout,
  toUnexpected,
  versionHeader,
} from './stages/error-body.ts'
import { isForm, parseForm } from './stages/form-bodies.ts'
import { sendLastResort } from './stages/last-resort.ts'
import { dropNulls } from './stages/null-fields.ts'
import { toOtherMethods } from './stages/other-methods.ts'
import { toForwardingWarning } from './stages/untrusted-forwarding.ts'
import { watchCalls } from './stages/watch-calls.ts'

export interface ServerParts {
  readonly endpoints: readonly Endpoint[]
  readonly services: Services
  readonly log: Log
  /** Told of every request. */
  readonly watches?: readonly CallWatch[]
  /** Logs a warning that the processes of a server log once in all. */
  readonly warnOnce?: (topic: string, message: string) => void
}

/** How somebody who signs in names one of AUTH_SESSIONS_TAGS. */
const tagHeader = 'x-session-tag'

/** On every answer: tokens are for the caller alone, and no browser should guess at anything. */
const safeHeaders = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** Of the first server of a process: it keeps what it has compiled, which is the same for the others. */
let schemaCompiler: FastifySchemaCompiler<FastifySchema> | undefined

export function createServer({
  endpoints,
  services,
  log,
  watches = [],
  warnOnce = (_topic, message) => log.warning(message),
}: ServerParts): FastifyInstance {
  const { api, proxies, tokens } = services.config
  const server = Fastify({
    bodyLimit: api.bodyLimitBytes,
    routerOptions: { ignoreTrailingSlash: true },
    genReqId: ({ headers }) => toRequestId(one(headers, api.requestIdHeader ?? '')),
    // Upstream takes any type; the body of a DELETE may be empty.
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false } },
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    // Who is connected already is answered; `connections.ts` sees to it that this ends.
    return503OnClosing: false,
    // A path that cannot even be read.
    frameworkErrors: (_error, request, reply) => {
      calls.begin(request, reply)
      void fail(request, reply, toNoRoute(request))
    },
    ...toSlowClientOptions(api.maxRequestDurationMs),
  })
  countRequests(server.server)
  if (schemaCompiler) server.setValidatorCompiler(schemaCompiler)
  server.addHook('onReady', async () => {
    schemaCompiler ??= server.validatorCompiler
  })
  const addresses = createClientAddresses({
    config: proxies,
    onUntrusted: (...seen) => warnOnce('forwarding', toForwardingWarning(...seen)),
  })
  const calls = watchCalls(server, watches, api, addresses)
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'string' }, (request, text, done) => {
    if (isForm(request)) return done(null, parseForm(`${text}`))
    try {
      done(null, text === '' ? {} : dropNulls(JSON.parse(`${text}`)))
    } catch (error) {
      const detail = error instanceof Error ? error.message : 'it is not JSON'
      done(new ApiError('bad_json', `Could not parse request body as JSON: ${detail}`))
    }
  })
  const tagHeaders = tokens.sessions.tags.length > 0 ? [tagHeader] : []
  addCors(server, [...api.corsAllowedHeaders, ...tagHeaders])

  addDeadline(server, api.maxRequestDurationMs, (request, reply) => {
    void fail(request, reply, toRequestTimeout())
  })
  const isSdk = ({ headers }: FastifyRequest) =>
    isSdkDialect(api.compatMode, one(headers, versionHeader))
  const isVersioned = ({ headers }: FastifyRequest) =>
    wantsVersionedErrors(api.compatMode, one(headers, versionHeader))

  // The deadline and what it cuts off may both have an answer, in the same moment even.
  const answered = new WeakSet<FastifyReply>()
  const send = (request: FastifyRequest, reply: FastifyReply, answer: Answer) => {
    if (answered.has(reply)) return reply
    answered.add(reply)
    try {
      const { status, body, html, headers, onSent } = answer
      const text = html ?? (body === undefined ? undefined : JSON.stringify(body))
      const type = html === undefined ? 'application/json' : 'text/html; charset=utf-8'
      reply.headers({ ...safeHeaders, ...headers })
      // Fastify would answer in its own words, and quote the header to the caller.
      checkHeaders(reply.getHeaders())
      reply.code(status)
      if (onSent !== undefined) {
        // By then the response has let go of its connection. Of one that is gone Node says that
        // everything was sent, too.
        const { socket } = reply.raw
        reply.raw.once('finish', () => {
          if (socket?.destroyed === false) onSent()
        })
      }
      return text === undefined ? reply.send() : reply.type(type).send(text)
    } catch (error) {
      return sendAnyway(request, reply, error)
    }
  }
  /** For an answer that cannot be sent: the caller gets another one all the same. */
  const sendAnyway = (request: FastifyRequest, reply: FastifyReply, error: unknown) => {
    const known = toUnexpected(error)
    logFailure(request, known)
    const { headers, ...answer } = toErrorAnswer(known, isVersioned(request), request.id)
    sendLastResort(reply, { ...answer, headers: { ...safeHeaders, ...headers } })
    return reply
  }
  const logFailure = (request: FastifyRequest, known: ApiError) => {
    calls.fail(request, known)
    if (known.status < 500) return
    log.error(() => `request ${request.id} failed: ${known.message} ${toReason(known)}`.trim())
  }
  const fail = (request: FastifyRequest, reply: FastifyReply, error: unknown) => {
    // The log has a line for the request, at the level of those that went well.
    if (hasLeft(request)) return reply.hijack()
    // Sending takes no time: an answer that has not ended by now never will.
    if (answered.has(reply) && !reply.raw.writableEnded) return sendAnyway(request, reply, error)
    const known = toApiError(error, api.bodyLimitBytes)
    logFailure(request, known)
    return send(request, reply, toErrorAnswer(known, isVersioned(request), request.id))
  }
  server.setErrorHandler((error, request, reply) => fail(request, reply, error))
  server.setNotFoundHandler((request, reply) => fail(request, reply, toNoRoute(request)))

  for (const endpoint of endpoints) {
    const { method, path, body, limiter, captcha, takesForms = false } = endpoint
    for (const prefix of new Set(['', api.pathPrefix])) {
      server.route({
        method: endpoint.answersHead ? [method, 'HEAD'] : method,
        url: `${prefix}${path}`,
        ...(body && { schema: { body } }),
        config: { takesForms },
        ...(limiter !== undefined && {
          preValidation: (request: FastifyRequest) => checkLimit(request, limiter),
        }),
        async handler(request, reply) {
          try {
            const answer = await calls.run(request, async () => {
              const call = await toCall(request, endpoint)
              if (captcha === 'always' || captcha?.(call.query)) await checkCaptcha(call, services)
              const recipients = endpoint.sendsCodesTo?.(call, services) ?? []
              return await guardCodes(services, recipients, () => endpoint.handle(call, services))
            })
            if (answer.failure) {
              logFailure(request, answer.failure)
              reply.header(requestIdHeader, request.id)
            }
            return send(request, reply, answer)
          } catch (error) {
            // Nobody waits for it any more, and Fastify would not say a word.
            if (answered.has(reply)) return fail(request, reply, error)
            throw error
          }
        },
      })
    }
  }

  for (const { method, path, allow, isLook } of toOtherMethods(endpoints)) {
    for (const prefix of new Set(['', api.pathPrefix])) {
      server.route({
        method,
        url: `${prefix}${path}`,
        // Before the body is read.
        async onRequest(request, reply) {
          reply.header('allow', allow)
          if (isLook) return send(request, reply, { status: 200 })
          const message = `There is no ${method} here, but ${allow}`
          return fail(request, reply, new ApiError('method_not_allowed', message))
        },
        handler: async () => {},
      })
    }
  }

  async function checkLimit(request: FastifyRequest, limiter: LimiterName): Promise<void> {
    const { limitKey } = addresses.find(request.headers, request.ip)
    const waitSeconds = await services.requestLimits.take(limiter, limitKey)
    if (waitSeconds === undefined) return
    throw new ApiError('over_request_rate_limit', 'Request rate limit reached', {
      retryAfterSeconds: waitSeconds,
    })
  }

  async function toCall(
    request: FastifyRequest,
    { allowed, moreRoles }: Endpoint,
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
      claims && allowed === 'admin' ? await findAdminRole(claims, services, moreRoles) : undefined
    const claimed = typeof claims?.['aud'] === 'string' && !adminRole ? claims['aud'] : undefined
    const named = header('x-jwt-aud') || undefined
    if (named !== undefined) checkAudience(named, tokens)
    return {
      body: request.body as never,
      query: toFirstValues(request.query),
      params: request.params as Call['params'],
      header,
      isSdk: isSdk(request),
      client: {
        ...addresses.find(headers, request.ip),
        userAgent: (headers['user-agent'] ?? '').slice(0, 512),
        tag: tokens.sessions.tags.find((tag) => tag === header(tagHeader)),
      },
      requestId: request.id,
      externalUrl: toExternalUrl({
        externalUrl: api.externalUrl,
        externalHosts: services.config.mail.externalHosts,
        host: header('x-forwarded-host'),
        proto: header('x-forwarded-proto'),
      }),
      checkLimit: (limiter) => checkLimit(request, limiter),
      audience: named ?? claimed ?? tokens.audience,
      caller,
      adminRole,
      adminSubject: adminRole === undefined ? undefined : toSubject(claims?.['sub']),
    }
  }

  server.addHook('onSend', (request, reply, _payload, done) => {
    if (isVersioned(request)) reply.header(versionHeader, apiVersion)
    done()
  })
  return server
}

/** Undefined: none, or one that the audit log could not keep. */
function toSubject(sub: unknown): string | undefined {
  return typeof sub === 'string' && /^[\x21-\x7e]{1,128}$/.test(sub) ? sub : undefined
}

/** @throws {TypeError} where Node would refuse to send one of them. */
function checkHeaders(headers: ReturnType<FastifyReply['getHeaders']>): void {
  for (const [name, value] of Object.entries(headers)) {
    validateHeaderName(name)
    for (const each of [value].flat()) validateHeaderValue(name, `${each}`)
  }
}

/** Whether the caller has closed the connection in the middle of the body, so that nothing has been done. */
function hasLeft({ raw }: FastifyRequest): boolean {
  return raw.readableAborted && !raw.complete
}

function toNoRoute({ method }: Pick<FastifyRequest, 'method'>): ApiError {
  return new ApiError('route_not_found', `There is no ${method} here`)
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

function toReason({ cause }: ApiError): string {
  // Where it happened says nothing about a database that is away, and there are many of them.
  if (cause instanceof DatabaseLostError) return cause.message
  return cause instanceof Error ? (cause.stack ?? cause.message) : ''
}

interface FastifyFailure {
  readonly code?: string
  readonly validation?: readonly { readonly instancePath: string; readonly message?: string }[]
}

function toApiError(error: unknown, bodyLimitBytes: number): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof DatabaseLostError) return toDatabaseLost(error.loss, error)
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
