import type { Log } from '@portcullis/service-kit/log/log'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ApiError } from '../errors.ts'
import { checkRecipients, guardCodes } from '../messages/requests/daily-codes.ts'
import type { Services } from '../services.ts'
import type { CallWatch } from '../telemetry/watched-call.ts'
import type { Answer } from './call.ts'
import type { Endpoint } from './endpoint.ts'
import { identifyCaller } from './stages/caller.ts'
import { checkCaptcha } from './stages/captcha.ts'
import { createClientAddresses, toForwardingWarning } from './stages/client-address.ts'
import { addCors } from './stages/cors.ts'
import { addDeadline } from './stages/deadline.ts'
import { toRequestTimeout } from './stages/error-answer.ts'
import { checkLimit } from './stages/limit.ts'
import { addOtherMethods } from './stages/other-methods.ts'
import { addBodyParser, refuseRepeated } from './stages/parse.ts'
import { readCall, readOrigin, tagHeader } from './stages/read-call.ts'
import { createResponder, type Responder } from './stages/respond.ts'
import { type WatchedCalls, watchCalls } from './stages/watch-calls.ts'

export interface PipelineParts {
  readonly endpoints: readonly Endpoint[]
  readonly services: Services
  readonly log: Log
  /** Called for every request. */
  readonly watches?: readonly CallWatch[]
  /** Logs a warning once for all worker processes together. */
  readonly warnOnce?: (topic: string, message: string) => void
}

export interface Pipeline extends Responder {
  readonly calls: WatchedCalls
}

/**
 * The stages of a request, in order: watch, CORS, deadline, parse, limit, feature enabled, schema, caller,
 * captcha, daily code limit, the endpoint itself, respond. A stage rejects a request by throwing an
 * `ApiError`, which `respond` converts to a response.
 */
export function addPipeline(server: FastifyInstance, parts: PipelineParts): Pipeline {
  const { endpoints, services, log, watches = [] } = parts
  const { warnOnce = (_topic, message) => log.warning(message) } = parts
  const { api, proxies, tokens } = services.config
  const addresses = createClientAddresses({
    config: proxies,
    onUntrusted: (...seen) => warnOnce('forwarding', toForwardingWarning(...seen)),
  })

  // Observes every request, including those that do not reach an endpoint.
  const calls = watchCalls(server, watches, api, addresses)
  const responder = createResponder({ api, calls, log })
  const tagHeaders = tokens.sessions.tags.length > 0 ? [tagHeader] : []
  addCors(server, [...api.corsAllowedHeaders, ...tagHeaders])
  addDeadline(server, api.maxRequestDurationMs, (request, reply) => {
    responder.fail(request, reply, toRequestTimeout())
  })
  addBodyParser(server)

  // The stages of an endpoint.
  const limit = (request: FastifyRequest, endpoint: Endpoint) => {
    const { limitKey } = addresses.find(request.headers, request.ip)
    const { body, query } = request
    return checkLimit(endpoint, { limitKey, body, query }, services.requestLimits)
  }
  const requireFeature = (request: FastifyRequest, endpoint: Endpoint): void =>
    endpoint.requires?.(services, Object(request.query))
  // With a CAPTCHA, the CAPTCHA token is checked first, as in Supabase Auth.
  const isCheckedLater = (endpoint: Endpoint): boolean =>
    endpoint.captcha !== undefined && services.captcha !== undefined
  const check = async (request: FastifyRequest, endpoint: Endpoint): Promise<void> => {
    await limit(request, endpoint)
    if (!isCheckedLater(endpoint)) requireFeature(request, endpoint)
  }
  const handle = async (request: FastifyRequest, endpoint: Endpoint): Promise<Answer> => {
    if (endpoint.oauth !== undefined) refuseRepeated(request.query)
    const origin = readOrigin(request, services)
    const identified = await identifyCaller(endpoint, request.headers, origin.proven, services)
    const address = addresses.find(request.headers, request.ip)
    const call = readCall(request, address, { ...identified, ...origin }, services)
    await checkCaptcha(endpoint, call, services)
    if (isCheckedLater(endpoint)) requireFeature(request, endpoint)
    const recipients = endpoint.sendsCodesTo?.(call, services) ?? []
    await checkRecipients(services, recipients, call.caller?.email)
    return await guardCodes(services, recipients, () => endpoint.handle(call, services))
  }
  for (const endpoint of endpoints) {
    const { method, path, body, takesForms = false, oauth, scim = false, answersHead } = endpoint
    for (const prefix of new Set(['', api.pathPrefix])) {
      server.route({
        method: answersHead ? [method, 'HEAD'] : method,
        url: `${prefix}${path}`,
        config: { takesForms, oauth, scim },
        preValidation: (request) => (endpoint.requires ? check : limit)(request, endpoint),
        ...(body && { schema: { body } }),
        async handler(request, reply) {
          try {
            const answer = await calls.run(request, () => handle(request, endpoint))
            return responder.send(request, reply, answer)
          } catch (error) {
            // The response was already sent, so Fastify would ignore the error without logging it.
            if (responder.hasAnswered(reply)) return responder.fail(request, reply, error)
            throw error
          }
        },
      })
    }
  }
  addOtherMethods(server, endpoints, api.pathPrefix, responder)
  server.setErrorHandler((error, request, reply) => responder.fail(request, reply, error))
  server.setNotFoundHandler((request, reply) => responder.fail(request, reply, toNoRoute(request)))
  return { ...responder, calls }
}

export function toNoRoute({ method }: Pick<FastifyRequest, 'method'>): ApiError {
  return new ApiError('route_not_found', `No endpoint for ${method} at this path`)
}
