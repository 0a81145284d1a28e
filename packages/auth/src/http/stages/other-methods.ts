import type { FastifyInstance } from 'fastify'
import { ApiError } from '../../errors.ts'
import type { Endpoint } from '../endpoint.ts'
import type { Responder } from './respond.ts'

/** Methods that the endpoints of a path do not have, and that get the same response. */
interface OtherMethods {
  readonly methods: readonly string[]
  readonly path: string
  /** The value of the Allow header: the methods of the path. */
  readonly allow: string
  /** Whether they are HEAD requests that have no effect and are allowed without a token. */
  readonly isNoOp: boolean
}

const allMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/**
 * Lists the methods that are rejected with 405, and HEAD. Mail scanners send HEAD to links first,
 * which must not use up a one-time token: on paths where a browser may GET without a token, HEAD
 * returns 200 and has no effect.
 */
function toOtherMethods(endpoints: readonly Endpoint[]): readonly OtherMethods[] {
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
    const others = allMethods.filter((method) => !known.has(method))
    const isNoOp = (method: string) => method === 'HEAD' && isLink
    return [true, false].flatMap((wanted) => {
      const methods = others.filter((method) => isNoOp(method) === wanted)
      return methods.length === 0 ? [] : [{ methods, path, allow, isNoOp: wanted }]
    })
  })
}

/**
 * Responds before the body is read. The methods of a path share a route, because the number of routes determines
 * most of the time that a server takes to start.
 */
export function addOtherMethods(
  server: FastifyInstance,
  endpoints: readonly Endpoint[],
  pathPrefix: string,
  { send, fail }: Responder,
): void {
  for (const { methods, path, allow, isNoOp } of toOtherMethods(endpoints)) {
    for (const prefix of new Set(['', pathPrefix])) {
      server.route({
        method: [...methods],
        url: `${prefix}${path}`,
        async onRequest(request, reply) {
          reply.header('allow', allow)
          if (isNoOp) return send(request, reply, { status: 200 })
          const message = `Method ${request.method} is not allowed; use ${allow}`
          return fail(request, reply, new ApiError('method_not_allowed', message))
        },
        handler: async () => {},
      })
    }
  }
}
