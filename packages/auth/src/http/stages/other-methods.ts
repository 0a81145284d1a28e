import type { FastifyInstance } from 'fastify'
import { ApiError } from '../../errors.ts'
import type { Endpoint } from '../endpoint.ts'
import type { Responder } from './respond.ts'

/** A method that the endpoints of a path do not have. */
export interface OtherMethod {
  readonly method: string
  readonly path: string
  /** The value of the Allow header: the methods of the path. */
  readonly allow: string
  /** Whether it is a HEAD request that has no effect and is allowed without a token. */
  readonly isNoOp: boolean
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/**
 * Lists the methods that are rejected with 405, and HEAD. Mail scanners send HEAD to links first,
 * which must not use up a one-time token: on paths where a browser may GET without a token, HEAD
 * returns 200 and has no effect.
 */
function toOtherMethods(endpoints: readonly Endpoint[]): readonly OtherMethod[] {
  // Paths that differ only in the names of parameters are the same.
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
      .map((method) => ({ method, path, allow, isNoOp: method === 'HEAD' && isLink }))
  })
}

/** Responds before the body is read. */
export function addOtherMethods(
  server: FastifyInstance,
  endpoints: readonly Endpoint[],
  pathPrefix: string,
  { send, fail }: Responder,
): void {
  for (const { method, path, allow, isNoOp } of toOtherMethods(endpoints)) {
    for (const prefix of new Set(['', pathPrefix])) {
      server.route({
        method,
        url: `${prefix}${path}`,
        async onRequest(request, reply) {
          reply.header('allow', allow)
          if (isNoOp) return send(request, reply, { status: 200 })
          const message = `Method ${method} is not allowed; use ${allow}`
          return fail(request, reply, new ApiError('method_not_allowed', message))
        },
        handler: async () => {},
      })
    }
  }
}
