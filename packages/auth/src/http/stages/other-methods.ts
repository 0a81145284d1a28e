import type { FastifyInstance } from 'fastify'
import { ApiError } from '../../errors.ts'
import type { Endpoint } from '../endpoint.ts'
import type { Responder } from './respond.ts'

/** A method of a path that no endpoint has. */
export interface OtherMethod {
  readonly method: string
  readonly path: string
  /** For the header: the methods that the path has. */
  readonly allow: string
  /** Whether it is looked at only, which all may do who may follow the link. */
  readonly isLook: boolean
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/**
 * What is to be refused with 405 (reference 1.1), and HEAD. Programs that scan mail look at links
 * with HEAD first, and nothing may be used up by that (reference 18, 18): where a browser may GET
 * without a token, HEAD finds that there is something, and does nothing.
 */
export function toOtherMethods(endpoints: readonly Endpoint[]): readonly OtherMethod[] {
  // The names of parameters do not tell paths apart.
  const byShape = Map.groupBy(endpoints, ({ path }) => path.replaceAll(/:\w+/g, ':'))
  return [...byShape.values()].flatMap((siblings) => {
    const known = new Set<string>(
      siblings.flatMap(({ method, answersHead }) => [method, ...(answersHead ? ['HEAD'] : [])]),
    )
    const isLink = siblings.some(
      ({ method, allowed, success }) =>
        method === 'GET' && allowed === 'anyone' && success.status < 400,
    )
    const allow = [...new Set([...known, ...(isLink ? ['HEAD'] : []), 'OPTIONS'])].join(', ')
    const path = siblings[0]?.path ?? ''
    return methods
      .filter((method) => !known.has(method))
      .map((method) => ({ method, path, allow, isLook: method === 'HEAD' && isLink }))
  })
}

/** Answers them before the body is read. */
export function addOtherMethods(
  server: FastifyInstance,
  endpoints: readonly Endpoint[],
  pathPrefix: string,
  { send, fail }: Responder,
): void {
  for (const { method, path, allow, isLook } of toOtherMethods(endpoints)) {
    for (const prefix of new Set(['', pathPrefix])) {
      server.route({
        method,
        url: `${prefix}${path}`,
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
}
